// What a command does for the work, in the words of a person's report: it tests, builds, pushes, deploys …
import type { Command } from './shell.ts'
import { gitWords, isOnlyTalk, taskPattern } from './shell-effects.ts'

export const actions = [
  'test',
  'lint',
  'types',
  'check',
  'build',
  'commit',
  'push',
  'deploy',
  'publish',
  'install',
  'migrate',
] as const
export type Action = (typeof actions)[number]
/** Actions that verify the work. */
export const checks: ReadonlySet<Action> = new Set(['test', 'lint', 'types', 'check', 'build'])

/** Matches the task of a runner, or the program. The first match counts. */
const patterns: readonly (readonly [Action, RegExp])[] = [
  [
    'deploy',
    taskPattern({
      task: 'deploy',
      program:
        'kubectl apply|terraform apply|helm (?:install|upgrade)|(?:fly|flyctl|vercel|netlify|cdk|serverless|sls|wrangler|firebase|eb|amplify) deploy',
    }),
  ],
  ['publish', taskPattern({ task: 'publish', program: '(?:npm|pnpm|yarn|cargo) publish|twine upload|gem push' })],
  ['migrate', taskPattern({ task: '(?:db:)?migrate', program: 'alembic upgrade|prisma migrate|manage\\.py migrate' })],
  [
    'install',
    /^(?:npm|pnpm|yarn|bun|poetry|composer|cargo|uv)(?: -\S+)* (?:i|install|ci|add|sync)\b|^yarn$|\b(?:pip3?|uv pip|brew|apt|apt-get|apk|dnf|yum|gem|bundle|go) (?:-\S+ )*(?:install|add|get)\b/,
  ],
  [
    'test',
    taskPattern({
      task: 'tests?',
      program:
        'vitest|jest|mocha|ava|pytest|py\\.test|tox|nox|rspec|phpunit|ctest|playwright test|cypress run|bats|unittest|nextest',
    }),
  ],
  ['types', taskPattern({ task: '(?:type-?check|types)', program: 'tsc|tsgo|vue-tsc|mypy|pyright|pyre|flow check' })],
  [
    'lint',
    taskPattern({
      task: '(?:lint|clippy|vet)',
      program: 'eslint|biome|golangci-lint|ruff|flake8|pylint|rubocop|stylelint|shellcheck|hadolint|actionlint',
    }),
  ],
  ['check', taskPattern({ task: '(?:check|verify|validate)', program: 'pre-commit' })],
  [
    'build',
    taskPattern({
      task: '(?:build|compile|package|assemble|bundle)',
      program: 'docker(?: buildx)? build|cmake|ninja|webpack|vite build|tsup|tsdown|esbuild|rollup|xcodebuild',
    }),
  ],
]

const onlyShows = /(?:^| )--?(?:dry-run|help|version|list|plan)(?: |=|$)/

function actionOf(command: Command): Action | undefined {
  const [program = '', ...rest] = command.words
  if (isOnlyTalk(program) || onlyShows.test(command.bare)) return undefined
  if (program === 'git') {
    const [verb] = gitWords(rest)
    return verb === 'push' || verb === 'commit' ? verb : undefined
  }
  return patterns.find(([, pattern]) => pattern.test(command.bare))?.[0]
}

export type ActionsRun = {
  /** All actions of the script. They succeeded if the script did. */
  readonly all: readonly Action[]
  /** The action that failed if the script failed. Undefined if another command may have failed. */
  readonly blamed: Action | undefined
}

/** Only a command that cannot fail, or that reads the output of a pipe, may follow the blamed action. */
export function actionsOf(commands: readonly Command[]): ActionsRun {
  const found = commands.map(actionOf)
  const last = found.findLastIndex((action) => action !== undefined)
  const after = commands.slice(last + 1)
  const isLast = after.every(({ words: [program = ''], isPiped }) => isPiped || /^(?:echo|printf|true)$/.test(program))
  const all = [...new Set(found.filter((action) => action !== undefined))]
  return { all, blamed: isLast ? found[last] : undefined }
}
