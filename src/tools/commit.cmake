# Writes OUTPUT, a header with the commit that SOURCE is at. Run at each build, since a commit is no
# reason to configure anew; the file is only written if it changes. Sources without git, as those of
# an archive, have no commit.
set(commit "")
execute_process(COMMAND git -C "${SOURCE}" ls-files --error-unmatch CMakeLists.txt
                RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
if(status EQUAL 0)  # and not those of another project around this one
  execute_process(COMMAND git -C "${SOURCE}" describe --always --dirty --exclude * --abbrev=12
                  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
file(CONFIGURE OUTPUT "${OUTPUT}" CONTENT "#define OVERLAPACK_COMMIT \"${commit}\"\n")
