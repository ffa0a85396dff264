# SPDX-License-Identifier: BSL-1.0
# Tests in one process: ranks are threads, or there are none. Compilers take most of the time, so each source is compiled
# for those who see something in it: what is about the engine with sanitizers (g++ compiles half of it header-only, and
# the engine for everything over MPI), schedules as data and arithmetic by g++, algorithms and the memory that ranks
# share by all.
add_executable(test_threads memory/shared_memory.cpp tools/timeline.cpp engine/kept_plans.cpp)
if(COLLIGO_SANITIZE)
  target_sources(test_threads PRIVATE threads/threads.cpp engine/checked.cpp engine/requests.cpp engine/letters.cpp
                 rules/forms.cpp)
endif()
if(COLLIGO_SANITIZE MATCHES "address")
  target_sources(test_threads PRIVATE tools/trace.cpp rules/overrides.cpp)   # traces count runs, so they come first
endif()
target_link_libraries(test_threads PRIVATE colligo::compiled colligo_warnings colligo_catch_main)
# Numbers with commas, as in many countries. localedef warns of what a locale has not.
set(locales ${CMAKE_CURRENT_BINARY_DIR}/locales)
find_program(COLLIGO_LOCALEDEF localedef REQUIRED)
file(MAKE_DIRECTORY ${locales})
execute_process(COMMAND ${COLLIGO_LOCALEDEF} -c --no-archive -i ${CMAKE_CURRENT_SOURCE_DIR}/commas.locale
                -f ANSI_X3.4-1968 ${locales}/commas OUTPUT_QUIET ERROR_QUIET)
set_source_files_properties(tools/trace.cpp rules/overrides.cpp PROPERTIES COMPILE_DEFINITIONS
                            "COLLIGO_TEST_LOCALES=\"${locales}\"")
colligo_precompile(test_threads threads <catch2/catch.hpp> <boost/mpi.hpp> <colligo/colligo.hpp>)
add_test(NAME threads COMMAND test_threads)

# Exchanges with some ranks: graphs and halos.
add_executable(test_exchange exchange/graphs.cpp exchange/halos.cpp)
if(NOT COLLIGO_SANITIZE STREQUAL "thread")   # a rank packs for itself
  target_sources(test_exchange PRIVATE exchange/views.cpp)
endif()
target_compile_options(test_exchange PRIVATE $<$<CXX_COMPILER_ID:GNU>:-O1>)
target_link_libraries(test_exchange PRIVATE colligo::compiled colligo_warnings colligo_catch_main)
colligo_precompile(test_exchange texts <catch2/catch.hpp> <boost/mpi.hpp> <colligo/colligo.hpp>)
add_test(NAME exchange COMMAND test_exchange)

# Every algorithm, or the one that COLLIGO_TEST_ALGORITHM names: as it is recorded, and over threads. And what single
# ones have of their own: their threads share what those of all algorithms do, which is enough for the thread sanitizer.
# They take longer to run: g++ optimises them.
set(programs "")
if(COLLIGO_THOROUGH OR NOT COLLIGO_SANITIZE STREQUAL "thread")
  list(APPEND programs test_algorithms)
  add_executable(test_algorithms algorithm/combined.cpp)
endif()
if(COLLIGO_THOROUGH OR NOT COLLIGO_SANITIZE)   # schedules as data, arithmetic: little for sanitizers to see
  list(APPEND programs test_texts)
  add_executable(test_texts words.cpp algorithm/cost.cpp algorithm/hierarchical.cpp algorithm/levels.cpp core/each.cpp
                 core/indices.cpp rules/bits.cpp sums/batch.cpp sums/binned.cpp sums/exact.cpp sums/sequences.cpp
                 sums/sparse.cpp)
  add_test(NAME texts COMMAND test_texts)
  target_sources(test_algorithms PRIVATE algorithm/recorded.cpp algorithm/algorithms_page.cpp)
  set_source_files_properties(algorithm/algorithms_page.cpp PROPERTIES COMPILE_DEFINITIONS
                              "COLLIGO_TEST_GUIDE=\"${PROJECT_SOURCE_DIR}/examples/guide\"")
endif()
foreach(program IN LISTS programs)
  target_compile_options(${program} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-O1>)
  target_link_libraries(${program} PRIVATE colligo::compiled colligo_warnings colligo_catch_main)
  colligo_precompile(${program} texts <catch2/catch.hpp> <boost/mpi.hpp> <colligo/colligo.hpp>)
endforeach()
if(TARGET test_algorithms)
  set(words "every algorithm combines each rank's word exactly once*")   # half of the time
  add_test(NAME algorithms COMMAND test_algorithms "~${words}")
  add_test(NAME algorithms.words COMMAND test_algorithms "${words}")
  set_tests_properties(algorithms algorithms.words PROPERTIES SKIP_RETURN_CODE 77 LABELS algorithm)   # tested.hpp
endif()
if(NOT COLLIGO_SANITIZE)   # the compilers of the project, whichever builds it
  add_test(NAME exact_digests COMMAND ${CMAKE_COMMAND} -DHEADERS=${PROJECT_SOURCE_DIR}/include
           -DSOURCE=${CMAKE_CURRENT_SOURCE_DIR}/sums/exact_digest.cpp -DFOLDER=${CMAKE_CURRENT_BINARY_DIR}/digests
           -P ${CMAKE_CURRENT_SOURCE_DIR}/sums/exact_digests.cmake)
endif()
if(COLLIGO_SANITIZE)   # else they go to 33, and record 64
  target_compile_definitions(colligo_warnings INTERFACE COLLIGO_TEST_MOST_RANKS=5 COLLIGO_TEST_MOST_RECORDED_RANKS=9)
endif()

# Ranks that do not know who sends to them.
add_executable(test_sparse_all_to_all exchange/sparse_all_to_all.cpp)
target_link_libraries(test_sparse_all_to_all PRIVATE colligo::compiled colligo_warnings colligo_catch_main)
target_compile_options(test_sparse_all_to_all PRIVATE $<$<CXX_COMPILER_ID:GNU>:-O1>)
colligo_precompile(test_sparse_all_to_all texts <catch2/catch.hpp> <boost/mpi.hpp> <colligo/colligo.hpp>)
add_test(NAME sparse_all_to_all COMMAND test_sparse_all_to_all)

# What cards say of a rank's own work, against the basic blocks that it runs.
if(NOT COLLIGO_SANITIZE)
  add_executable(test_own_work algorithm/own_work.cpp)
  target_include_directories(test_own_work PRIVATE ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(test_own_work PRIVATE colligo_warnings colligo_catch_main)
  target_compile_options(test_own_work PRIVATE -O1 -fsanitize-coverage=trace-pc)
  add_test(NAME own_work COMMAND test_own_work)
endif()

# core, shape, algorithm, record and cost know nothing of MPI: no MPI on the include path here.
if(NOT COLLIGO_SANITIZE)
  add_executable(test_without_mpi core/functor.cpp core/range.cpp rules/named_trees.cpp rules/tree_file.cpp
                 algorithm/all_gatherv.cpp plan/draw.cpp plan/record.cpp rules/choose.cpp)
  target_compile_definitions(test_without_mpi PRIVATE COLLIGO_TEST_TREES="${CMAKE_CURRENT_SOURCE_DIR}/trees")
  target_include_directories(test_without_mpi PRIVATE ${COLLIGO_PAGES})
  target_link_libraries(test_without_mpi PRIVATE colligo_schedules colligo_catch_main)
  target_compile_options(test_without_mpi PRIVATE $<$<CXX_COMPILER_ID:GNU>:-O1>)
  colligo_precompile(test_without_mpi without_mpi <catch2/catch.hpp>)
  add_test(NAME without_mpi COMMAND test_without_mpi)
endif()
