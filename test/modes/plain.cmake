# SPDX-License-Identifier: BSL-1.0
# The library compiled once with nothing but COMPILER: COLLIGO_COMPILED for all units, COLLIGO_BODIES in one (the project
# itself compiles them in several), the other on a precompiled header. Links and runs in FOLDER; LIBRARIES as the linker
# takes them.
set(common ${COMPILER} -std=c++20 -O0 -DCOLLIGO_COMPILED -I${HEADERS})
file(WRITE ${FOLDER}/bodies.cpp "#define COLLIGO_BODIES\n#include <colligo/compiled.hpp>\n")
file(WRITE ${FOLDER}/program.cpp "#include <vector>
std::vector<double> sums_compiled(int p);
int main() { return sums_compiled(3) == std::vector<double>(3, 4.5) ? 0 : 1; }
")
file(WRITE ${FOLDER}/parallel.hpp "#include <colligo/colligo.hpp>\n")
execute_process(COMMAND ${common} -c -x c++-header parallel.hpp -o parallel.hpp.gch WORKING_DIRECTORY ${FOLDER}
                COMMAND_ERROR_IS_FATAL ANY)
file(WRITE ${FOLDER}/parallel.hpp "#error \"this is read where the precompiled header is not\"\n")
foreach(step "-c;${FOLDER}/bodies.cpp;-o;bodies.o" "-c;-include;parallel.hpp;${SOURCES}/compiled.cpp;-o;compiled.o"
        "${FOLDER}/program.cpp;compiled.o;bodies.o;${LIBRARIES};-o;program")
  execute_process(COMMAND ${common} ${step} WORKING_DIRECTORY ${FOLDER} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
execute_process(COMMAND ${FOLDER}/program COMMAND_ERROR_IS_FATAL ANY)
