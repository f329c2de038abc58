import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { everlong, root } from '../testing/harness.ts'
import { type InitReport, planFor } from './init/plan.ts'
import { readProject } from './init/project.ts'
import { editFile, type FileEdit, sdks } from './init/sdks.ts'
import { parseSource } from './init/source.ts'
import { initSdks } from './init.ts'

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

type Files = Readonly<Record<string, string>>

/** A project with these files; its node_modules are those of the checkout unless it has none. */
function project(files: Files, { isInstalled = true } = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'everlong-init-'))
  folders.push(folder)
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  if (isInstalled) symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  return folder
}

function manifest(...dependencies: readonly string[]): string {
  return JSON.stringify({ type: 'module', dependencies: Object.fromEntries(dependencies.map((name) => [name, '*'])) })
}

function edited(sdkName: string, text: string, path = 'app.ts'): FileEdit {
  const sdk = sdks.find(({ name }) => name === sdkName)
  const source = parseSource(path, text)
  if (!sdk || !source) throw new Error(`${sdkName}: no such SDK, or a syntax error`)
  return editFile(source, sdk)
}

test('the names in --help are those of the table', () => {
  expect(sdks.map(({ name }) => name)).toEqual([...initSdks])
})

describe('an edit', () => {
  const anthropic = "import Anthropic from '@anthropic-ai/sdk'"
  const added = "import { everlong } from 'everlong/anthropic'\n\nconst managed = everlong()"

  test.each([
    ['without options', 'new Anthropic()', 'new Anthropic({ middleware: [managed.middleware] })'],
    ['without brackets', 'new Anthropic', 'new Anthropic({ middleware: [managed.middleware] })'],
    ['with empty options', 'new Anthropic({})', 'new Anthropic({ middleware: [managed.middleware] })'],
    ['with options', 'new Anthropic({ apiKey })', 'new Anthropic({ middleware: [managed.middleware], apiKey })'],
    [
      'with options on lines of their own',
      'new Anthropic({\n  apiKey,\n})',
      'new Anthropic({\n  middleware: [managed.middleware],\n  apiKey,\n})',
    ],
    [
      'with other middleware, which comes after it',
      'new Anthropic({ middleware: [log, retry] })',
      'new Anthropic({ middleware: [managed.middleware, log, retry] })',
    ],
    ['with an empty list', 'new Anthropic({ middleware: [] })', 'new Anthropic({ middleware: [managed.middleware] })'],
  ])('of a client %s', (_, before, after) => {
    expect(edited('anthropic', `${anthropic}\n\nexport const client = ${before}\n`)).toEqual({
      type: 'edited',
      text: `${anthropic}\n${added}\n\nexport const client = ${after}\n`,
      left: [],
    })
  })

  test.each([
    ['a variable', 'new Anthropic(options)'],
    ['a spread, which may have middleware', 'new Anthropic({ ...options })'],
    ['a list that is not written out', 'new Anthropic({ middleware: list })'],
  ])('is left to a person for %s', (_, call) => {
    expect(edited('anthropic', `${anthropic}\nconst client = ${call}\n`)).toEqual({
      type: 'by-hand',
      line: 2,
      why: 'the options are not written out there',
    })
  })

  test('names the calls that are left where others could be changed', () => {
    const result = edited('anthropic', `${anthropic}\nnew Anthropic(options)\nnew Anthropic()\n`)
    expect(result).toMatchObject({ type: 'edited', left: [{ line: 2 }] })
  })

  test('follows the local name, semicolons and quotes, and avoids names that are taken', () => {
    const before = 'import { Anthropic as Client } from "@anthropic-ai/sdk";\nconst managed = 1;\nnew Client();\n'
    expect(edited('anthropic', before)).toMatchObject({
      text: 'import { Anthropic as Client } from "@anthropic-ai/sdk";\nimport { everlong } from "everlong/anthropic";\n\nconst managedContext = everlong();\nconst managed = 1;\nnew Client({ middleware: [managedContext.middleware] });\n',
    })
  })

  test('leaves other classes, and types, alone', () => {
    expect(edited('anthropic', "import type Anthropic from '@anthropic-ai/sdk'\nnew Anthropic()\n").type).toBe(
      'not-used',
    )
    expect(edited('anthropic', `${anthropic}\nnew Other()\n`).type).toBe('not-used')
  })

  test('wraps models of the AI SDK, and reduces steps where the model may be a name', () => {
    const before = [
      "import { openai } from '@ai-sdk/openai'",
      "import { generateText, streamText } from 'ai'",
      "const model = openai('gpt-5')",
      'generateText({ model, messages })',
      "streamText({ model: openai('gpt-5'), messages })",
      'generateText({ model: name, messages })',
      "generateText({ model: 'openai/gpt-5', messages, prepareStep })",
    ].join('\n')
    const result = edited('ai-sdk', before)
    expect(result).toMatchObject({ type: 'edited', left: [{ line: 7 }] })
    expect(result.type === 'edited' && result.text.split('\n')).toEqual([
      "import { openai } from '@ai-sdk/openai'",
      "import { generateText, streamText, wrapLanguageModel } from 'ai'",
      "import { everlong } from 'everlong/ai-sdk'",
      '',
      'const managed = everlong()',
      "const model = openai('gpt-5')",
      'generateText({ model: wrapLanguageModel({ model, middleware: managed.middleware }), messages })',
      "streamText({ model: wrapLanguageModel({ model: openai('gpt-5'), middleware: managed.middleware }), messages })",
      'generateText({ prepareStep: managed.prepareStep, model: name, messages })',
      "generateText({ model: 'openai/gpt-5', messages, prepareStep })",
    ])
  })

  test.each([
    ['a model that is wrapped already', "const model = wrapLanguageModel({ model: openai('gpt-5'), middleware })"],
    ['a name that stands for two models', "{ const model = openai('a') }\n{ const model = openai('b') }"],
  ])('does not wrap %s', (_, declared) => {
    const imports = "import { generateText, wrapLanguageModel } from 'ai'"
    const result = edited('ai-sdk', `${imports}\n${declared}\ngenerateText({ model, messages })\n`)
    expect(JSON.stringify(result)).not.toContain('wrapLanguageModel({ model, ')
  })

  test('imports a name once', () => {
    const before = "import { generateText, wrapLanguageModel } from 'ai'\ngenerateText({ model: openai('a') })\n"
    expect(edited('ai-sdk', before)).toMatchObject({
      text: expect.stringMatching(/^import \{ generateText, wrapLanguageModel \} from 'ai'\n/),
    })
  })

  test('puts the processor of Mastra last in both lists', () => {
    const before = "import { Agent } from '@mastra/core/agent'\nnew Agent({ id, inputProcessors: [other] })\n"
    expect(edited('mastra', before)).toMatchObject({
      text: expect.stringContaining(
        'new Agent({ errorProcessors: [managed.processor], id, inputProcessors: [other, managed.processor] })',
      ),
    })
  })

  test('every edit of a file can be made once only', () => {
    const once = edited('anthropic', `${anthropic}\nnew Anthropic()\n`)
    expect(once.type === 'edited' && edited('anthropic', once.text).type).toBe('already')
  })
})

describe('everlong init', () => {
  const app = "import Anthropic from '@anthropic-ai/sdk'\n\nexport const client = new Anthropic()\n"

  async function init(folder: string, ...words: readonly string[]) {
    const { exitCode, stdout, stderr } = await everlong(['init', folder, '--json', ...words])
    return { exitCode, stderr, report: (exitCode === 2 || stdout === '' ? {} : JSON.parse(stdout)) as InitReport }
  }

  test('without a terminal shows the plan, and changes nothing', async () => {
    const folder = project({ 'package.json': manifest('@anthropic-ai/sdk', 'everlong'), 'src/app.ts': app })
    const { stdout, exitCode } = await everlong(['init', folder])
    expect(exitCode).toBe(0)
    expect(stdout).toContain('+export const client = new Anthropic({ middleware: [managed.middleware] })')
    expect(stdout).toContain('Nothing was changed. To apply it, add --yes.')
    expect(readFileSync(join(folder, 'src/app.ts'), 'utf8')).toBe(app)
  })

  test('with --yes changes the file and has a conversation through the SDK; the second time there is nothing to do', async () => {
    const folder = project({ 'package.json': manifest('@anthropic-ai/sdk', 'everlong'), 'src/app.ts': app })
    const first = await init(folder, '--yes')
    expect(first).toMatchObject({
      exitCode: 0,
      report: {
        state: 'applied',
        files: [{ path: join('src', 'app.ts'), change: 'changed' }],
        byHand: [],
        trial: { type: 'done', sdk: 'anthropic', turns: 24, refused: 0, keptRule: true },
      },
    })
    const { trial } = first.report
    expect(trial?.type === 'done' && trial.compactions).toBeGreaterThan(0)
    expect(readFileSync(join(folder, 'src/app.ts'), 'utf8')).toContain('middleware: [managed.middleware]')
    expect(await init(folder, '--yes')).toMatchObject({
      exitCode: 0,
      report: { state: 'nothing-to-do', already: [join('src', 'app.ts')], files: [] },
    })
  })

  test.each([
    ['the AI SDK', ['ai', '@ai-sdk/anthropic'], 'ai-sdk'],
    ['LangChain', ['langchain', '@langchain/anthropic'], 'langchain'],
    ['an SDK that a person must change', ['openai'], undefined],
  ])('tries %s', async (_, dependencies, sdk) => {
    const folder = project({ 'package.json': manifest('everlong', ...dependencies), 'app.ts': '' })
    const { tryIn } = await import('./init/trial.ts')
    const names = sdks.filter(({ packages }) => packages.some((name) => dependencies.includes(name)))
    const trial = await tryIn(
      folder,
      names.map(({ name }) => name),
    )
    expect(trial).toMatchObject({ type: 'done', sdk, refused: 0, keptRule: true })
  })

  test('counts the requests that the server refused, also where the SDK throws no error', async () => {
    const sdk = `export default class {
      constructor({ baseURL }) {
        const headers = { 'content-type': 'application/json', 'x-api-key': 'none', 'anthropic-version': '2023-06-01' }
        const post = (body) => fetch(baseURL + '/v1/messages', { method: 'POST', headers, body })
        this.messages = { create: async () => ({ content: String((await post('{}')).status) }) }
      }
    }`
    const files = {
      'package.json': manifest('everlong', '@anthropic-ai/sdk'),
      'node_modules/@anthropic-ai/sdk/package.json': JSON.stringify({ type: 'module', exports: './index.js' }),
      'node_modules/@anthropic-ai/sdk/index.js': sdk,
    }
    const folder = project(files, { isInstalled: false })
    symlinkSync(join(root, 'node_modules/everlong'), join(folder, 'node_modules/everlong'))
    const { tryIn } = await import('./init/trial.ts')
    expect(await tryIn(folder, ['anthropic'])).toEqual({
      type: 'done',
      sdk: 'anthropic',
      turns: 24,
      compactions: 0,
      refused: 24,
      keptRule: false,
    })
  })

  test('a conversation that fails says why', async () => {
    const folder = project({ 'package.json': '{}' }, { isInstalled: false })
    const { tryIn } = await import('./init/trial.ts')
    expect(await tryIn(folder, [])).toMatchObject({
      type: 'failed',
      why: expect.stringContaining("Cannot find package 'everlong'"),
    })
  })

  test('with two SDKs in one file changes one call, and names the other with its place', async () => {
    const both = `import Anthropic from '@anthropic-ai/sdk'
import { anthropic } from '@ai-sdk/anthropic'
import { generateText } from 'ai'

export const client = new Anthropic()
export const model = anthropic('claude-sonnet-4-6')
export const answer = () => generateText({ model, prompt: 'Hello.' })
`
    const folder = project({
      'package.json': manifest('@anthropic-ai/sdk', 'ai', '@ai-sdk/anthropic', 'everlong'),
      'app.ts': both,
    })
    const { plan, writes } = planFor(readProject(folder), readProject(folder).sdks)
    expect(plan.sdks.length).toBe(2)
    expect(writes.map(({ before }) => before?.toString())).toEqual([both])
    expect(String(writes[0]?.after)).toContain('new Anthropic({ middleware: [managed.middleware] })')
    expect(plan.byHand).toMatchObject([
      { sdk: 'ai-sdk', place: 'app.ts:10', why: 'the file uses the name everlong already' },
    ])
  })

  test('installs the library first, and changes nothing if that fails', async () => {
    const files = { 'package.json': manifest('@anthropic-ai/sdk'), 'pnpm-lock.yaml': '', 'app.ts': app }
    const folder = project(files, { isInstalled: false })
    const tools = project({ pnpm: `#!/bin/sh\necho "$@" > called\nexit 7\n` }, { isInstalled: false })
    chmodSync(join(tools, 'pnpm'), 0o755)
    const env = { PATH: `${tools}${delimiter}${process.env.PATH}` }
    const { exitCode, stderr } = await everlong(['init', folder, '--yes', '--json'], { env })
    expect(exitCode).toBe(1)
    expect(stderr).toContain('pnpm ended with 7. Nothing was changed. Run pnpm add everlong yourself, then try again.')
    expect(readFileSync(join(folder, 'called'), 'utf8')).toBe('add everlong\n')
    expect(readFileSync(join(folder, 'app.ts'), 'utf8')).toBe(app)
  })

  test('declares the library in a project that only happens to find it', async () => {
    const folder = project({ 'package.json': manifest('@anthropic-ai/sdk'), 'app.ts': app })
    expect((await init(folder)).report).toMatchObject({ state: 'not-asked', install: 'npm install everlong' })
  })

  test('names what a person must change, with the place', async () => {
    const folder = project({
      'package.json': manifest('everlong', 'openai', 'langchain'),
      'src/chat.ts': "import { x } from './x'\nimport OpenAI from 'openai'\n",
    })
    const { report } = await init(folder)
    expect(report).toMatchObject({
      state: 'nothing-to-do',
      byHand: [
        { sdk: 'langchain', why: 'no call of it was found' },
        { sdk: 'openai', place: `${join('src', 'chat.ts')}:2` },
      ],
    })
  })

  test('does not look into node_modules, hidden folders or links, and survives a syntax error', async () => {
    const folder = project(
      {
        'package.json': manifest('@anthropic-ai/sdk', 'everlong'),
        'node_modules/everlong/package.json': '{}',
        'node_modules/x/a.ts': app,
        '.cache/a.ts': app,
        'dist/a.js': app,
        'broken.ts': `${app}const (`,
        'good.ts': app,
      },
      { isInstalled: false },
    )
    symlinkSync(join(folder, 'node_modules', 'x'), join(folder, 'linked'))
    const { report } = await init(folder)
    expect(report.files.map(({ path }) => path)).toEqual(['good.ts'])
    expect(report.byHand).toMatchObject([
      { place: 'broken.ts', why: 'it has a syntax error, or syntax that is not known' },
    ])
  })

  test.each([
    ['without a package.json', {}, [], 'has no package.json'],
    ['with a broken package.json', { 'package.json': '{' }, [], 'is not valid JSON'],
    ['without an SDK', { 'package.json': '{}' }, [], 'none of the SDKs that Everlong knows'],
    ['without the SDK that is named', { 'package.json': '{}' }, ['--sdk', 'mastra'], 'no dependency for mastra'],
  ])('a folder %s gets one line', async (_, files, words, message) => {
    const { exitCode, stderr } = await init(project(files as Files), ...words)
    expect(exitCode).toBe(1)
    expect(stderr).toContain(message)
    expect(stderr.trim().split('\n')).toHaveLength(1)
  })
})
