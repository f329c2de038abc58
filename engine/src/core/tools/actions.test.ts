import { expect, test } from 'vitest'
import { actionsOf } from './actions.ts'
import { readScript } from './shell-effects.ts'

const run = (script: string) => actionsOf(readScript(script).commands)

test.each([
  ['npm test', 'test'],
  ['cd web && npx vitest run a.test.ts 2>&1 | tail -5', 'test'],
  ['cargo test --all', 'test'],
  ['npm run lint', 'lint'],
  ['npx tsc --noEmit', 'types'],
  ['pnpm run check', 'check'],
  ['yarn build', 'build'],
  ['git -C /repo push origin main', 'push'],
  ['git commit -m "make the tests pass"', 'commit'],
  ['fly deploy --remote-only', 'deploy'],
  ['make deploy', 'deploy'],
  ['npm publish', 'publish'],
  ['npm install left-pad', 'install'],
  ['pip install torch', 'install'],
  ['npm run db:migrate', 'migrate'],
])('%s is a run of: %s', (script, action) => {
  expect(run(script)).toEqual({ all: [action], blamed: action })
})

test.each([
  'ls',
  'grep -r "npm test" .',
  'echo npm test',
  'git push --dry-run',
  'git status',
  'kubectl get deploy',
  'npm publish --dry-run',
  'cat package.json | grep test',
])('%s is a run of nothing', (script) => {
  expect(run(script)).toEqual({ all: [], blamed: undefined })
})

test('of a script that fails only the last action is to blame, and none where another command may have failed', () => {
  expect(run('npm run build && npm test')).toEqual({ all: ['build', 'test'], blamed: 'test' })
  expect(run('npm test; echo "exit $?"')).toEqual({ all: ['test'], blamed: 'test' })
  expect(run('npm test && grep -q done log.txt')).toEqual({ all: ['test'], blamed: undefined })
  expect(run('npm test; node tidy.js')).toEqual({ all: ['test'], blamed: undefined })
})
