#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Writes include/colligo/colligo.cppm, the module unit: it exports every name of namespace colligo that headers declare
outside detail, and the trees. --check: says whether the file is as it would be written."""
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parents[2] / 'include' / 'colligo'
other = r'template <.*>\s*$|extern|friend|static_assert|using namespace'
declared = [
    re.compile(r'(?:struct|class|enum class|enum) (?:\[\[[^]]*\]\] )?([a-z]\w*)[ ;:{]'),
    re.compile(r'using ([a-z]\w*) ='),
    re.compile(r'concept ([a-z]\w*) ='),
    re.compile(r'(?:static )?inline (?:constexpr |bool |auto |const )*(?:\w[\w:<>, ]* )?([a-z]\w*)\s*(?:=|\{|;)'),
]
function = re.compile(r'(?:template .*> )?(?:\[\[[^]]*\]\] )*(?:COLLIGO_CONSTEXPR |COLLIGO_BODY |constexpr |inline )*'
                      r'[\w:<>,&* ]+?[ &*]([a-z]\w*)\(')


def names_in(text, wanted):
    inside, depth, public = [], 0, set()   # inside: namespaces, and the depth of braces around each
    for line in text.splitlines():
        at_top = bool(inside) and depth == inside[-1][1] + 1 and all(
            part in wanted for name, _ in inside for part in name.split('::'))
        at_top = at_top and any(wanted[-1] in name for name, _ in inside)
        code = re.sub(r'//.*', '', line)
        if opened := re.match(r'namespace ([\w: ]*?) ?\{', line):
            inside.append((opened[1], depth))
        elif made := re.match(r'COLLIGO_REQUESTS?\((\w+)\)', line):
            if wanted[-1] == 'colligo':
                public |= {'i' + made[1], made[1] + '_init'}
        elif at_top and line[:1] not in ('', ' ', '/', '#', '}') and not re.match(other, line):
            for kind in declared:
                if found := kind.match(line):
                    public.add(found[1])
                    break
            else:
                if (found := function.match(line)) and 'operator' not in line and '=' not in line[:found.end()]:
                    public.add(found[1])
        depth += code.count('{') - code.count('}')
        while inside and depth <= inside[-1][1]:
            inside.pop()
    return public


headers = [h for h in sorted(root.rglob('*.hpp'))
           if not h.name.startswith('compiled') and not h.name.endswith('_body.hpp')]
inner = ('by_name', 'inline COLLIGO_MODE', 'colligo')
names = set().union(*(names_in(h.read_text(), inner) for h in headers))
trees = set().union(*(names_in(h.read_text(), inner + ('trees',)) for h in headers))
public = sorted(h.name for h in root.glob('*.hpp') if not h.name.startswith('compiled'))
text = ('// SPDX-License-Identifier: BSL-1.0\n'
        '/// @file\n'
        '/// The library as a module, for compilers that can: import colligo; written by\n'
        '/// test/platforms/module.py.\n'
        'module;\n\n' + ''.join(f'#include "{name}"\n' for name in public) +
        '#include "core/known_elements.hpp"\n#include "tools/draw.hpp"\n#include "transport/threads/threads.hpp"\n\n'
        'export module colligo;\n\nexport namespace colligo {\n\n' +
        ''.join(f'using colligo::{name};\n' for name in sorted(names)) +
        '\nnamespace trees {\n' + ''.join(f'using colligo::trees::{name};\n' for name in sorted(trees)) +
        '}  // namespace trees\n\n}  // namespace colligo\n')
if __name__ == '__main__':
    file = root / 'colligo.cppm'
    if '--check' in sys.argv[1:]:
        if not file.exists() or file.read_text() != text:
            sys.exit('include/colligo/colligo.cppm lacks names, or has old ones: run test/platforms/module.py')
        print(f'the module exports {len(names)} names')
    else:
        file.write_text(text)
