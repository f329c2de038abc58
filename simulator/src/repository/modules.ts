// The text of generated modules and their tests. Plausible to read and to grep; it is never run.
import { integerBelow, type Random, type Seed, seededRandom } from '../script/random.ts'
import { type PlantedMistake, typeOf, wordOf } from './mistakes.ts'

export type ModuleFacts = {
  readonly name: string
  readonly area: string
  readonly path: string
  readonly testPath: string
  readonly leansOn: readonly ModuleFacts[]
  readonly functions: number
  readonly mistake: PlantedMistake | undefined
}

export function moduleText(module: ModuleFacts, seed: Seed): string {
  const random = seededRandom('module', seed, module.name)
  const word = wordOf(module)
  const type = typeOf(module)
  const parts = [
    `// ${type}s of the ${module.area} layer. See docs/architecture.md.`,
    ...module.leansOn.map((other) => `import { read${typeOf(other)} } from '../${other.area}/${other.name}.ts'`),
    '',
    `export type ${type} = { readonly id: string; readonly version: number; readonly weight?: number }`,
    '',
    `const default${type}Limit = ${50 + integerBelow(random, 200)}`,
    '',
    `export function read${type}(text: string): ${type} {`,
    `  const [id = '', version = '0'] = text.split('@')`,
    '  return { id, version: Number(version) }',
    '}',
  ]
  for (let index = 1; index <= module.functions; index++) parts.push('', ...functionLines({ module, index, random }))
  if (module.mistake) parts.push('', ...mistakeLines(module.mistake, { word, type }))
  return `${parts.join('\n')}\n`
}

function functionLines(about: {
  readonly module: ModuleFacts
  readonly index: number
  readonly random: Random
}): readonly string[] {
  const { module, index, random } = about
  const word = wordOf(module)
  const type = typeOf(module)
  const other = module.leansOn[index % Math.max(1, module.leansOn.length)]
  const verb = verbs[integerBelow(random, verbs.length)] ?? 'check'
  const lines = [
    `/** ${capital(verb)}s ${word}s whose version is over ${index}; ${reasons[integerBelow(random, reasons.length)]}. */`,
    `export function ${verb}${type}${index}(${word}s: readonly ${type}[], options: { limit?: number } = {}): readonly ${type}[] {`,
    `  const kept = ${word}s.filter((${word}) => ${word}.version > ${index})`,
  ]
  if (other) lines.push(`  const first = read${typeOf(other)}('${other.name}@${index}')`)
  lines.push(
    `  if (kept.length === 0) throw new Error('${module.name}: nothing to ${verb}${other ? ` after ' + first.id` : "'"})`,
    `  return kept.slice(0, options.limit ?? default${type}Limit)`,
    '}',
  )
  return lines
}

function mistakeLines(mistake: PlantedMistake, names: { readonly word: string; readonly type: string }) {
  return [
    `/** Used by ${mistake.symbol} in every layer; ${mistake.testName}. */`,
    `export async function ${mistake.symbol}(${names.word}s: ${names.type}[], key: string, options: { limit?: number } = {}) {`,
    '  let total = 0',
    `  ${mistake.wrong}`,
    '  return total',
    '}',
  ]
}

export function testText(module: ModuleFacts): string {
  const type = typeOf(module)
  const word = wordOf(module)
  const cases = testNamesOf(module).flatMap((name, index) => [
    '',
    `test('${name}', async () => {`,
    `  const ${word}s = ['a@1', 'b@2', 'c@9'].map(read${type})`,
    `  expect(await subject.case${index}(${word}s)).toMatchSnapshot()`,
    '})',
  ])
  const head = [
    "import { expect, test } from 'vitest'",
    `import * as subject from './${module.name}.ts'`,
    `import { read${type} } from './${module.name}.ts'`,
  ]
  return `${[...head, ...cases].join('\n')}\n`
}

/** The names a test run of this module prints. */
function testNamesOf(module: ModuleFacts): readonly string[] {
  const plain = Array.from(
    { length: module.functions },
    (_, index) => `keeps ${module.name}s over version ${index + 1}`,
  )
  return module.mistake ? [...plain, module.mistake.testName] : plain
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}

const verbs = ['check', 'merge', 'prune', 'order', 'collect', 'trim', 'release']
const reasons = [
  'callers rely on the order',
  'an empty list is an error of the caller',
  'see the decision on limits',
  'older versions were never released',
  'the store holds at most a thousand',
]
