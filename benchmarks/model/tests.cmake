# SPDX-License-Identifier: BSL-1.0
# What models say, which need no other ranks, and what pages and tables have from measurements.
# Every price of bounds up to 33 ranks is above its bound and near the best; the gallery's files are what is priced.
add_test(NAME benchmark_prices COMMAND ${COLLIGO_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/plot/reprice.py
  ${CMAKE_CURRENT_BINARY_DIR})
set_tests_properties(benchmark_prices PROPERTIES LABELS benchmark)
add_test(NAME benchmark_bounds_wide COMMAND bounds --wide --ranks 32)
set_tests_properties(benchmark_bounds_wide PROPERTIES LABELS benchmark)
add_test(NAME benchmark_bounds_sparse COMMAND bounds --sample 100 --ranks 10000 sparse_all_to_all)
set_tests_properties(benchmark_bounds_sparse PROPERTIES LABELS benchmark)
add_test(NAME benchmark_scale COMMAND scale --ranks 1000 --check)
set_tests_properties(benchmark_scale PROPERTIES LABELS benchmark)
add_test(NAME benchmark_prices_refuses COMMAND prices --algorithms circle)
set_tests_properties(benchmark_prices_refuses PROPERTIES LABELS benchmark
  PASS_REGULAR_EXPRESSION "prices: no all_reduce is named circle")
# Every number of the gallery's text is what the files beside it give.
add_test(NAME benchmark_gallery COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/plot/write.py --check)
set_tests_properties(benchmark_gallery PROPERTIES LABELS benchmark)
# What is measured on a machine, and the library's own table, which is derived from such measurements.
add_test(NAME benchmark_machines COMMAND ${COLLIGO_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/machines/derive.py
  --check ${PROJECT_SOURCE_DIR}/include/colligo/rules/shared_memory_table.hpp)
add_test(NAME benchmark_many_cores COMMAND ${COLLIGO_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/model/many_cores/many_cores.py --check
  --prices $<TARGET_FILE:prices>
  --csv ${CMAKE_CURRENT_BINARY_DIR}/many_cores.csv --svg ${CMAKE_CURRENT_BINARY_DIR}/many_cores.svg)
set_tests_properties(benchmark_machines benchmark_many_cores PROPERTIES LABELS benchmark)
