% Operations of scripts/programs, in Octave: answers lines as child() does there.
% Usage: octave-cli operations.m SECONDS_OF_WARM_UP
%
% Each has what makes its matrix, what is measured, and its error. Only what is measured may call
% LAPACK, as its calls are counted.
1;  % a script, not the file of a function

function e = residual (a, x, b)
  e = norm (a * x - b, "fro") / (norm (a, "fro") * norm (x, "fro"));
end

square = @(n) 2 * rand (n) - 1;
operations = {
  'octave A\b', square, @(a, b) a \ b, @(v, x, a, b) residual (a, x, b);
  'octave inv(A)', square, @(a, b) inv (a), @(v, x, a, b) residual (a, x * v, v)};

finish = time () + str2double (argv (){1});
while time () < finish
  chol (eye (2200));
end
printf ('{"versions": {"octave": "%s"}}\n', version ());
fflush (stdout);
while true
  line = input ("", "s");  % fgetl() would wait for the next line, too
  [numbers, ~, ~, next] = sscanf (line, "%f %f %f ", 3);  % order, turn, time
  [~, make, run, check] = operations(strcmp (operations(:, 1), line(next:end)), :){:};
  n = numbers(1);
  rand ("twister", numbers(1:2));
  a = make (n);
  b = 2 * rand (n, 1) - 1;
  v = rand (n, 2);
  pause (max (0, numbers(3) - time ()));
  a = a + 0;  % a copy: the processor has slept
  ones (400) * ones (400);  % wakes the threads of BLAS
  begin = tic ();
  x = run (a, b);
  seconds = toc (begin);
  % JSON has no infinity, and not a number is not right.
  printf ('{"seconds": %.9f, "check": %g}\n', seconds, min ([1, check(v, x, a, b)]));
  fflush (stdout);
  clear a x
end
