import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { commandsIn } from './shell.ts'
import { mayChange, mayChangeAnything, onlyReads, purposeOf, readScript, removes } from './shell-effects.ts'

const words = (script: string) => commandsIn(script).map((command) => command.words.join(' '))

test.each([
  ['cd /p && npm test 2>&1 | tail -20', ['cd /p', 'npm test', 'tail -20']],
  ['echo "a; rm b" \'c | d\'', ['echo a; rm b c | d']],
  ['FOO=1 timeout 60 npx tsc --noEmit', ['tsc --noEmit']],
  ['# a note\nls # another\npwd', ['ls', 'pwd']],
  ['cat > a.sh <<EOF\nnpm test\nEOF\nls', ['cat', 'ls']],
  ['for f in *.ts; do sed -i s/a/b/ "$f"; done', ['for f in *.ts', 'sed -i s/a/b/ $f', 'done']],
  ['git commit \\\n  -m "x \\"y\\""', ['git commit -m x \\"y\\"']],
  ['.venv/bin/pytest -q', ['pytest -q']],
  ['log=/p/build.log; wc -l $log', ['log=/p/build.log', 'wc -l $log']],
  ['echo "never closed', ['echo never closed']],
  ['', []],
])('the commands of %j', (script, expected) => {
  expect(words(script)).toEqual(expected)
})

test('redirections are not words, and copies of streams are not files', () => {
  expect(commandsIn('a x 2>&1 >>out.log <in.txt &>all.log')[0]).toMatchObject({
    words: ['a', 'x'],
    into: ['out.log', 'all.log'],
    hasDocument: false,
  })
  expect(commandsIn('cat <<EOF >new.md\nx\nEOF')[0]).toMatchObject({
    words: ['cat'],
    into: ['new.md'],
    hasDocument: true,
  })
})

describe('files that a script names', () => {
  test('are read, written, edited or deleted where the words leave no doubt', () => {
    const script = "cd /p && sed -n '10,80p' src/a.ts && rm old.ts && cat > new.md <<'EOF'\nrm never.ts\nEOF"
    expect(readScript(script).files).toEqual([
      { name: 'src/a.ts', path: '/p/src/a.ts', act: 'read', lines: [10, 80] },
      { name: 'old.ts', path: '/p/old.ts', act: 'deleted', isGone: true },
      { name: 'new.md', path: '/p/new.md', act: 'written' },
    ])
    expect(readScript("cat a.ts | sed -n '3,9p'").files).toEqual([
      { name: 'a.ts', path: 'a.ts', act: 'read', lines: [3, 9] },
    ])
    expect(readScript('grep -rn foo src | head; ls -la; sed s/a/b.c/ <x').files).toEqual([])
  })

  test('are only named where a command moves, copies or makes files', () => {
    expect(
      readScript('mv a.ts b.ts; sed -i s/x/y/ Makefile; npm test > out.log').files.map(({ name, act }) => [name, act]),
    ).toEqual([
      ['a.ts', 'named'],
      ['b.ts', 'named'],
      ['Makefile', 'named'],
      ['out.log', 'named'],
    ])
  })
})

test.each([
  ['rm -rf src', ['src/a.ts']],
  ['git rm -q Makefile', ['Makefile']],
  ['git rm --cached Makefile', []],
  ['git -C /p mv src/a.ts lib/a.ts', ['src/a.ts']],
  ['mv src/a.ts Makefile lib', ['src/a.ts', 'Makefile']],
  ['cp src/a.ts lib/a.ts && cat Makefile', []],
])('%j removes or moves away %j', (script, gone) => {
  const paths = ['src/a.ts', 'lib/a.ts', 'Makefile']
  expect(paths.filter((path) => removes(readScript(script), path))).toEqual(gone)
})

describe('a file that was seen before the script ran', () => {
  const changes = (script: string, path = 'src/a.ts') => mayChange(readScript(script), path)

  test.each([
    "sed -i 's/x/y/' src/a.ts",
    "sed -i.bak 's/x/y/' ./src/a.ts",
    'cd /w && perl -pi -e "s/x/y/" src/*.ts',
    'for f in src/*.ts; do sed -i s/a/b/ $f; done',
    'echo done > src/a.ts',
    'printf x | tee -a src/a.ts',
    'rm -rf src',
    'mv src/b.ts src/a.ts',
    'git checkout main',
    'git -C . stash',
    'git pull --rebase',
    'npx prettier --write .',
    'npm run format',
    'pnpm lint:fix',
    'cargo fmt',
    'ruff check --fix .',
    'gofmt -w .',
    'make generate',
    "python3 - <<'EOF'\nopen('src/a.ts', 'w').write('x')\nEOF",
    'node -e "fs.writeFileSync(process.argv[1])" src/a.ts',
    "grep -rl x . | xargs sed -i 's/x/y/'",
    'find . -name "*.tmp" -delete',
    'patch -p1 < fix.diff',
  ])('may have changed: %s', (script) => {
    expect(changes(script)).toBe(true)
    expect(mayChangeAnything(commandsIn(script))).toBe(true)
  })

  test.each([
    'ls -la src',
    'cat src/a.ts',
    "sed -n '1,20p' src/a.ts",
    "sed -i 's/a$/b/' src/b.ts",
    'git status && git diff src/a.ts && git log --oneline',
    'git add -A && git commit -m "x; git checkout ."',
    'git stash list',
    'npm test 2>&1 | tail -5',
    'npx prettier --check .',
    'npm run format:check',
    'npx eslint src/a.ts',
    'cargo fmt --check',
    'npx tsc --noEmit > /dev/null',
    'rm -rf dist',
    'echo x > out.txt',
    'touch other/a.tsx',
  ])('is what it was: %s', (script) => {
    expect(changes(script)).toBe(false)
  })
})

describe('whether anything may have changed', () => {
  const may = (script: string) => mayChangeAnything(commandsIn(script))

  test.each([
    'git status',
    'cd /p && git -C /p diff | head -20',
    'ls -la; cat a.ts\ngrep -rn x src 2>/dev/null',
    'npm test 2>&1 | tail -5',
    'npx tsc --noEmit && npx eslint .',
    'cargo fmt --check',
    '# a note\nfind . -name "*.ts"',
    'env',
  ])('nothing: %s', (script) => {
    expect(may(script)).toBe(false)
  })

  test.each([
    'git add -A',
    'git checkout .',
    'ls\nrm -rf build',
    'ls & rm -rf build',
    'npm test && git stash',
    'npm test; sed -i s/a/b/ a.ts',
    'npx prettier --write .',
    'npx eslint . --fix',
    'pnpm lint:fix',
    'gofmt -w .',
    'cargo fmt',
    'npx vitest run -u',
    'npm run build',
    'echo x > a.ts',
    'echo $(rm a.ts)',
    'echo "$(rm a.ts)"',
    'env FOO=1 ./deploy.sh',
    'find . -delete',
    'find . | xargs rm',
    'cat > a.ts <<EOF\nx\nEOF',
    `${'ls; '.repeat(300)}rm a.ts`,
    './do-something',
  ])('something: %s', (script) => {
    expect(may(script)).toBe(true)
  })

  test('a check is not a command that only reads, so that its result is told', () => {
    const reads = (script: string) => commandsIn(script).every(onlyReads)
    expect(['npm test', 'git status', 'git status\nrm x'].map(reads)).toEqual([false, true, false])
  })
})

test.each([
  ['cd /p && npm test 2>&1 | tail -20', 'check'],
  ['go test ./... -run X', 'check'],
  ['.venv/bin/pytest -q', 'check'],
  ['node node_modules/vitest/vitest.mjs run', 'check'],
  ['FOO=1 timeout 60 cargo clippy', 'check'],
  ['mise run lint', 'check'],
  ['npx tsc --noEmit', 'check'],
  ['pnpm run build', 'build'],
  ['make all', 'build'],
  ['make', 'build'],
  ['git push', 'git'],
  ['npm test && git push', 'check'],
  ['echo "npm test"', 'other'],
  ['grep -rn vitest .', 'other'],
  ['cat > a.sh <<EOF\nnpm test\nEOF', 'other'],
  ['git commit -m "Run npm test first"', 'git'],
])('what %j is for: %s', (script, purpose) => {
  expect(purposeOf(commandsIn(script))).toBe(purpose)
})

test('a script of any length is read in bounded time', () => {
  const piece = fc.constantFrom('python ', '"', "'", '\\', '> ', 'open(', '$(', '\n', 'x', '<<', ';', '*', '2>&1', '#')
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (parts) => {
      expect(typeof readScript(parts.join('').repeat(2_000).slice(0, 20_000)).isWide).toBe('boolean')
    }),
    { numRuns: 20 },
  )
}, 20_000)
