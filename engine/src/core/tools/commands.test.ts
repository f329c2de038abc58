import { describe, expect, test } from 'vitest'
import { commandText, endingOf, judgedByOutput, outcomeLine, programOf, reportingLines } from './commands.ts'
import { commandsIn } from './shell.ts'

test.each([
  ['cd /p && npm test 2>&1 | tail -20', 'npm test', 'npm test'],
  ['npm test | head -n 40', 'npm test', 'npm test'],
  ["cat *.json | jq -r '.base' | head -1", "cat *.json | jq -r '.base' | head -1", 'cat'],
  ['# a note\ncd "/a b"\ngo test ./... -run X', 'go test ./... -run X', 'go test'],
  ['FOO=1 timeout 60 cargo clippy', 'FOO=1 timeout 60 cargo clippy', 'cargo clippy'],
  ['pytest -q', 'pytest -q', 'pytest'],
  ['cat src/a.ts', 'cat src/a.ts', 'cat'],
  ['log=/p/build.log\nwc -l "$log"', 'log=/p/build.log wc -l "$log"', 'wc'],
  ['echo "npm test"', 'echo "npm test"', ''],
  ['cat > a.sh <<EOF\nnpm test\nEOF', 'cat > a.sh <<EOF…', 'cat'],
])('%j', (script, text, program) => {
  expect({ text: commandText(script), program: programOf(commandsIn(script)) }).toEqual({ text, program })
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
    [
      'still running',
      '',
      { ...quiet, raw: { backgroundTaskId: 'b1' } },
      { ended: 'unfinished', output: '', task: 'b1' },
    ],
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
  ['found 1 issue.\nUse `lint explain` to explain issues.', true, 'found 1 issue.'],
  [
    '<persisted-output>\nOutput too large. Full output saved to: /tmp/a\n\nPreview:\na comment\n</persisted-output>',
    false,
    '',
  ],
  ['updated\n</result>', false, 'updated'],
  [
    'warning: variable "a" is unused\nerror: no door\n13 tests, 1 failure',
    true,
    'error: no door … 13 tests, 1 failure',
  ],
])('the line that says most of %j', (output, failed, line) => {
  expect(outcomeLine(reportingLines(output), failed)).toBe(line)
})

test.each([
  ['FAIL example.com/gate 0.2s', 'badly'],
  ['3 passed, 1 failed', 'badly'],
  ['12 passed, 0 failed', 'well'],
  ['0 issues.', 'well'],
] as const)('behind a pipe the output tells how a check ended: %s', (output, ended) => {
  expect(judgedByOutput({ exit: 0, ended: 'well', output }, { verifies: true }).ended).toBe(ended)
})
