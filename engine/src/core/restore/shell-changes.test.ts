import fc from 'fast-check'
import { expect, test } from 'vitest'
import { mayChange, shellChanges } from './shell-changes.ts'

const changes = (command: string, path = 'src/a.ts') => mayChange(shellChanges(command), path)

test.each([
  "sed -i 's/x/y/' src/a.ts",
  "sed -i.bak 's/x/y/' ./src/a.ts",
  'cd /w && perl -pi -e "s/x/y/" src/*.ts',
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
])('may have changed the file: %s', (command) => {
  expect(changes(command)).toBe(true)
})

test.each([
  'ls -la src',
  'cat src/a.ts',
  "sed -n '1,20p' src/a.ts",
  'git status && git diff src/a.ts && git log --oneline',
  'git add -A && git commit -m "x"',
  'git stash list',
  'npm test 2>&1 | tail -5',
  'npx prettier --check .',
  'npx eslint src/a.ts',
  'cargo fmt --check',
  'npx tsc --noEmit > /dev/null',
  'rm -rf dist',
  'echo x > out.txt',
  'touch other/a.tsx',
])('leaves the file alone: %s', (command) => {
  expect(changes(command)).toBe(false)
})

test('a command of any length is looked at in bounded time', () => {
  const piece = fc.constantFrom('python ', '"', "'", '> ', 'open(', '$(', '\n', 'x', '<<', ';', '*')
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (parts) => {
      expect(typeof shellChanges(parts.join('').repeat(2_000)).isWide).toBe('boolean')
    }),
    { numRuns: 20 },
  )
}, 20_000)
