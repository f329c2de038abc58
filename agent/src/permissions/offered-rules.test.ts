import { expect, test } from 'vitest'
import { exactly, rulesForScript } from './offered-rules.ts'
import { formatRule } from './rule.ts'
import { readScript } from './script.ts'

function offered(command: string): readonly string[] {
  return rulesForScript(readScript(command), ([program]) => program === 'ls').map(formatRule)
}

test.each([
  ['npm test -- a', ['Bash(npm test:*)']],
  ['npm run build --silent', ['Bash(npm run build:*)']],
  ['npx vitest run a', ['Bash(npx vitest:*)']],
  ['python3 -m pytest -q', ['Bash(python3 -m pytest:*)']],
  ['git commit -m x', ['Bash(git commit:*)']],
  ['docker compose up -d', ['Bash(docker compose up:*)']],
  ['docker ps', ['Bash(docker ps:*)']],
  ['gh pr view 1', ['Bash(gh pr view:*)']],
  ['make', ['Bash(make)']],
  ['make a b', ['Bash(make a:*)']],
  ['eslint src', ['Bash(eslint:*)']],
  ['./gradlew test', ['Bash(./gradlew test:*)']],
  ['cargo build && cargo test && cargo build', ['Bash(cargo build:*)', 'Bash(cargo test:*)']],
  ['ls | eslint', ['Bash(eslint:*)']],
])('%s offers %j', (command, rules) => {
  expect(offered(command)).toEqual(rules)
})

test.each([
  'rm a',
  'rm -rf build && npm test',
  'npm --silent test',
  'npm run',
  'npm run -s build',
  'git -C x push',
  'git',
  'bash x.sh',
  'sudo ls',
  'python3 x.py',
  'node -e 1',
  'curl x',
  '/bin/rm a',
  'find . -delete',
  'xargs rm',
  'npm test > out',
  'npm test $X',
  'a && b && c && d',
  'git config user.name other',
  'git rebase main',
  'git submodule foreach ls',
  'npm config set x y',
  'pnpm dlx x',
  'docker run x',
  'docker exec x ls',
  'kubectl exec pod',
  'gh alias set x y',
])('%s offers nothing wider than itself', (command) => {
  expect(rulesForScript(readScript(command), () => false)).toEqual([exactly(readScript(command))])
})
