# Modules that call LAPACK by plain names, with integers of 32 or 64 bits, in one process: what a
# plain name means is decided by who calls. Whatever the order, each gets its own answers.
find_library(CLIENTS_LAPACK64 NAMES lapack64 liblapack64.so.3)

foreach(bits 32 64)
  set(width "")
  set(width_definition "")
  if(bits EQUAL 64)
    set(width 64)  # the file's name is all that tells it
    set(width_definition ILP64)
  endif()
  set(lapack plain_lapack${width})
  add_library(${lapack} SHARED plain_lapack.c)
  # One that is linked with its LAPACK, and one that leaves it to its modules to bring it.
  add_library(plain_wrapper${bits} SHARED plain_wrapper.c)
  target_link_libraries(plain_wrapper${bits} PRIVATE ${lapack})
  add_library(plain_bare_wrapper${bits} SHARED plain_wrapper.c)
  add_library(plain_module${bits} MODULE plain_module.c)
  target_link_libraries(plain_module${bits} PRIVATE ${lapack})
  add_library(plain_reporting${bits} MODULE plain_module.c)
  target_link_libraries(plain_reporting${bits} PRIVATE ${lapack})
  target_compile_definitions(plain_reporting${bits} PRIVATE OWN_XERBLA)
  add_library(plain_early${bits} MODULE plain_module.c)
  target_link_libraries(plain_early${bits} PRIVATE ${lapack} Threads::Threads)
  target_compile_definitions(plain_early${bits} PRIVATE EARLY)
  add_library(plain_deep${bits} MODULE plain_module.c)
  target_link_libraries(plain_deep${bits} PRIVATE plain_wrapper${bits})
  add_library(plain_beside${bits} MODULE plain_module.c)
  target_link_libraries(plain_beside${bits} PRIVATE ${keep_needed} plain_bare_wrapper${bits}
                        ${lapack})
  foreach(module deep beside)
    target_compile_definitions(plain_${module}${bits} PRIVATE WRAPPED OWN_XERBLA)
  endforeach()
  foreach(target ${lapack} plain_wrapper${bits} plain_bare_wrapper${bits} plain_module${bits}
                 plain_reporting${bits} plain_early${bits} plain_deep${bits} plain_beside${bits})
    target_compile_features(${target} PRIVATE c_std_99)
    target_compile_definitions(${target} PRIVATE ${width_definition})
    target_link_libraries(${target} PRIVATE m)
    user_defaults(${target})
  endforeach()
  # A program that calls LAPACK itself.
  add_client(plain_client${bits} SOURCES plain_client.c plain_module.c
             LINK ${lapack} ${CMAKE_DL_LIBS} DEFINE CALLS_ITSELF ${width_definition})
endforeach()
add_client(plain_client SOURCES plain_client.c LINK ${CMAKE_DL_LIBS})

# plain_test(name program opening:kind ...): opens modules in the order given.
function(plain_test name program)
  set(arguments "")
  foreach(word ${ARGN})
    string(REGEX REPLACE "^(.*):(.*)$" "\\1:$<TARGET_FILE:plain_\\2>" argument ${word})
    list(APPEND arguments ${argument})
  endforeach()
  foreach(device off host)
    clients_judge(plain.${name} ${device} --preload $<TARGET_FILE:${program}> ${arguments})
  endforeach()
endfunction()

plain_test(private plain_client local:module64)
foreach(order "32;64" "64;32")
  list(GET order 0 first)
  list(GET order 1 then)
  plain_test(private.${first}.${then} plain_client local:module${first} local:module${then})
  plain_test(global_first.${first}.${then} plain_client global:module${first} local:module${then})
  plain_test(global_last.${first}.${then} plain_client local:module${first} global:module${then})
  plain_test(linked.${first}.${then} plain_client${first} local:module${then})
  plain_test(reports.${first}.${then} plain_client
             local:reporting${first} local:reporting${then})
  plain_test(deep.${first}.${then} plain_client local:deep${first} local:deep${then})
  plain_test(beside.${first}.${then} plain_client local:beside${first} local:beside${then})
  # A constructor that waits for a thread which calls LAPACK: the dynamic linker is locked then. The
  # process has made its first call before.
  plain_test(early.${first}.${then} plain_client
             local:module${first} local:module${then} local:early${then})
  set(modules $<TARGET_FILE:plain_module${first}>,$<TARGET_FILE:plain_module${then}>)
  clients_judge(plain.alternately.${first}.${then} off --preload $<TARGET_FILE:plain_client>
                alternately:${modules},${CMAKE_CURRENT_BINARY_DIR}/plain_link.${first}.so)
endforeach()

# A tool in front of us tells nothing of who calls: the call is for what comes next, or for the only
# LAPACK that is there.
set(tool --before $<TARGET_FILE:forwarding_lapack> --print "dgetrf_ was handed on")
foreach(bits 32 64)
  clients_judge(plain.forwarded.${bits} off --preload ${tool} $<TARGET_FILE:plain_client${bits}>)
  clients_judge(plain.forwarded_to_private.${bits} off --preload ${tool}
                $<TARGET_FILE:plain_client> local:$<TARGET_FILE:plain_module${bits}>)
endforeach()

# Debian's library, of which nothing but LAPACK's names is asked.
if(CLIENTS_LAPACK64)
  add_library(plain_debian64 MODULE plain_module.c)
  target_compile_features(plain_debian64 PRIVATE c_std_99)
  target_compile_definitions(plain_debian64 PRIVATE ILP64 OWN_XERBLA LAPACK_ONLY)
  target_link_libraries(plain_debian64 PRIVATE ${CLIENTS_LAPACK64} m)
  user_defaults(plain_debian64)
  plain_test(debian.64.32 plain_client local:debian64 local:module32)
  plain_test(debian.32.64 plain_client local:module32 local:debian64)
else()
  clients_skip_test(plain.debian "there is no LAPACK with 64-bit integers (liblapack64-dev)")
endif()
