// The files of a generated repository besides its modules: readme, configuration, design notes, a large generated table and a
// long build log, so that some results are realistically large.
import { integerBelow, lettersFrom, type Random } from '../script/random.ts'
import { typeOf } from './mistakes.ts'
import type { ModuleFacts } from './modules.ts'

export function readmeText(name: string, modules: readonly ModuleFacts[]): string {
  return [
    `# ${name}`,
    '',
    'A service that is made up: nothing in it was ever deployed.',
    '',
    '    npm install',
    '    npm test',
    '',
    '## Modules',
    '',
    ...modules.map((module) => `- [${module.name}](${module.path}): ${typeOf(module)}s of the ${module.area} layer`),
    '',
    'How they fit together: [docs/architecture.md](docs/architecture.md).',
    '',
  ].join('\n')
}

export function configText(name: string): string {
  const config = {
    name,
    version: '2.4.0',
    type: 'module',
    scripts: { test: 'vitest run', build: 'tsc -p tsconfig.json', lint: 'biome check' },
    devDependencies: { typescript: '^7.0.0', vitest: '^5.0.0' },
  }
  return `${JSON.stringify(config, null, 2)}\n`
}

export function designText(random: Random, modules: readonly ModuleFacts[]): string {
  const paragraphs = Array.from({ length: 6 + integerBelow(random, 6) }, () => {
    const module = modules[integerBelow(random, modules.length)]
    const claim = claims[integerBelow(random, claims.length)]
    return `\`${module?.path ?? 'src/index.ts'}\` ${claim} Measured with ${1 + integerBelow(random, 90)} thousand entries.`
  })
  return ['# Design', '', ...paragraphs.flatMap((paragraph) => [paragraph, ''])].join('\n')
}

/** About 1,200 lines, more than one read shows. */
export function tableText(random: Random): string {
  const rows = Array.from(
    { length: 1_200 },
    (_, index) =>
      `  ['${lettersFrom(random, 8)}', ${index}, ${integerBelow(random, 100_000)}, '${lettersFrom(random, 16)}'],`,
  )
  return ['// Generated. Do not edit.', 'export const table = [', ...rows, '] as const', ''].join('\n')
}

/** About 600 lines of a build with many warnings. */
export function buildLogText(random: Random, modules: readonly ModuleFacts[]): string {
  const lines = Array.from({ length: 600 }, (_, index) => {
    const module = modules[integerBelow(random, modules.length)]
    const step = `[${index + 1}/600]`
    if (random() < 0.12) return `${step} warning: ${module?.path}(${1 + integerBelow(random, 90)},7): unused import`
    return `${step} compile ${module?.path} -> dist/${module?.area}/${module?.name}.js (${1 + integerBelow(random, 40)} ms)`
  })
  return `${lines.join('\n')}\n`
}

const claims = [
  'is the only place that writes to the store; readers go through its cursor.',
  'keeps its entries in order of arrival, because callers page through them.',
  'was split off when retries turned out to hold the lease too long.',
  'never throws for an unknown version: it returns nothing and counts it.',
  'reads limits where a limit of zero means none at all, not the default.',
]
