import { describe, expect, test } from 'vitest'
import {
  behindPipe,
  commandText,
  endingOf,
  isReadOnly,
  mayChange,
  outcomeLine,
  programOf,
  purposeOf,
} from './commands.ts'
import { filesInScript } from './script-files.ts'

test.each([
  ['cd /p && npm test 2>&1 | tail -20', 'npm test', 'npm test', 'test'],
  ['# a note\ncd "/a b"\ngo test ./... -run X', 'go test ./... -run X', 'go test', 'test'],
  ['FOO=1 timeout 60 cargo clippy', 'FOO=1 timeout 60 cargo clippy', 'cargo clippy', 'lint'],
  ['npx tsc --noEmit', 'npx tsc --noEmit', 'npx tsc', 'types'],
  ['pnpm run build', 'pnpm run build', 'pnpm run', 'build'],
  ['mise run lint', 'mise run lint', 'mise run', 'lint'],
  ['pytest -q', 'pytest -q', 'pytest', 'test'],
  ['git push', 'git push', 'git push', 'git'],
  ['echo "npm test"', 'echo "npm test"', '', 'other'],
  ['cat > a.sh <<EOF\nnpm test\nEOF', 'cat > a.sh <<EOF …', 'cat', 'other'],
] as const)('%j', (command, text, program, purpose) => {
  const line = commandText(command)
  expect({ text: line, program: programOf(line), purpose: purposeOf(line) }).toEqual({ text, program, purpose })
})

describe('how a command ended', () => {
  const quiet = { isError: false }
  test.each([
    [
      'Claude Code',
      'Exit code 2\nboom',
      { isError: true, raw: 'Error: Exit code 2' },
      { exit: 2, ended: 'badly', output: 'boom' },
    ],
    ['Claude Code, well', 'fine', { ...quiet, raw: { stdout: 'fine' } }, { exit: 0, ended: 'well', output: 'fine' }],
    [
      'Codex',
      'Command: /bin/zsh -lc x\nChunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 1\nOutput:\nboom',
      quiet,
      { exit: 1, ended: 'badly', output: 'boom' },
    ],
    [
      'pi',
      'boom\n\nCommand exited with code 3',
      quiet,
      { exit: 3, ended: 'badly', output: 'boom\n\nCommand exited with code 3' },
    ],
    ['still running', '', { ...quiet, raw: { backgroundTaskId: 'b1' } }, { ended: 'unfinished', output: '' }],
    [
      'cut off',
      'half',
      { ...quiet, raw: { stdout: 'half', interrupted: true } },
      { ended: 'unfinished', output: 'half' },
    ],
    [
      'its own words',
      'fine\nExit code 1',
      { ...quiet, raw: { stdout: 'fine' } },
      { exit: 0, ended: 'well', output: 'fine\nExit code 1' },
    ],
  ])('%s', (_, text, options, ending) => {
    expect(endingOf(text, options)).toEqual(ending)
  })
})

test.each([
  ['ok  \ta/b\t1.2s\nok  \ta/c\t0.1s', false, '2 packages ok'],
  ['ok  \ta/b\t1.2s\nFAIL\ta/c\t0.1s', true, 'FAIL a/c 0.1s … 1 packages ok, 1 failed: a/c'],
  ['Traceback (most recent call last):\n  File "a.py"\nValueError: no door', true, 'ValueError: no door'],
  ['> tsc\nsrc/a.ts(3,1): error TS2304: Cannot find name', true, 'src/a.ts(3,1): error TS2304: Cannot find name'],
  ['\u001b[32mdone\u001b[0m\n\n', false, 'done'],
  [`{"url":"${'x'.repeat(300)}"}`, false, ''],
  [`{"error":"${'x'.repeat(300)}"}`, true, `{"error":"${'x'.repeat(49)}…`],
  ['', true, ''],
])('the line that says most of %j', (output, failed, line) => {
  expect(outcomeLine(output, failed)).toBe(line)
})

test('scripts tell which files they read, make and remove', () => {
  expect(
    filesInScript("cd /p && sed -n '10,80p' src/a.ts && rm old.ts && cat > new.md <<'EOF'\nrm never.ts\nEOF"),
  ).toEqual([
    { path: 'new.md', whole: '/p/new.md', act: 'written' },
    { path: 'src/a.ts', whole: '/p/src/a.ts', act: 'read', seen: [10, 80] },
    { path: 'old.ts', whole: '/p/old.ts', act: 'deleted' },
  ])
  expect(filesInScript('grep -rn foo src | head; ls -la; sed s/a/b.c/ <x')).toEqual([])
})

describe('what a script may have changed', () => {
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
    expect(mayChange(script)).toBe(false)
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
    'gofmt -w .',
    'cargo fmt',
    'npx vitest run -u',
    'npm run build',
    'echo x > a.ts',
    'echo $(rm a.ts)',
    'env FOO=1 ./deploy.sh',
    'find . -delete',
    'find . | xargs rm',
    'cat > a.ts <<EOF\nx\nEOF',
    `${'ls; '.repeat(300)}rm a.ts`,
    './do-something',
  ])('something: %s', (script) => {
    expect(mayChange(script)).toBe(true)
  })

  test('a check is not a command that only reads, so that its result is told', () => {
    expect(['npm test', 'git status', 'git status\nrm x'].map(isReadOnly)).toEqual([false, true, false])
  })
})

test.each([
  ['FAIL example.com/gate 0.2s', 'badly'],
  ['3 passed, 1 failed', 'badly'],
  ['12 passed, 0 failed', 'well'],
  ['0 issues.', 'well'],
] as const)('behind a pipe the output tells how a check ended: %s', (output, ended) => {
  expect(behindPipe({ exit: 0, ended: 'well', output }).ended).toBe(ended)
})
