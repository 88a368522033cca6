% Octave's own tests of chol and cholupdate, which calls qrupdate's ch1up_ and ch1dn_.
file = fullfile (__octave_config_info__ ("octtestsdir"), "libinterp", "corefcn", "chol.cc-tst");
if (! exist (file, "file"))
  printf ("skipped: this Octave comes without its tests\n");
  exit (77);
end
[passed, tests] = test (file, "quiet");
printf ("%d of %d tests pass\n", passed, tests);
exit (passed != tests || tests == 0);
