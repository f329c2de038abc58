// The SDKs that `everlong init` knows: how to find the code that calls a model, and its changes.
import {
  applyEdits,
  type CallSite,
  callsOf,
  constantIn,
  type Edit,
  type Node,
  nameOf,
  nodesIn,
  optionsOf,
  propertyOf,
  type Source,
  textOf,
} from './source.ts'

export type Sdk = {
  readonly name: string
  readonly title: string
  /** Its packages; one of them is in the dependencies. */
  readonly packages: readonly string[]
  /** The subpath of everlong. */
  readonly entry: string
  /** Changes that a person must make if code cannot. */
  readonly byHand: readonly string[]
  /** The calls to change. Without it, only a person can. */
  readonly calls?: { readonly from: readonly string[]; readonly names: readonly string[] }
  /** The edits of one call, and the names that the file must also import from the SDK. Undefined if a person must make them. */
  readonly edit?: (site: CallSite, context: EditContext) => CallEdit | undefined
}

export type EditContext = {
  readonly source: Source
  /** The variable for the result of `everlong()`. */
  readonly managed: string
}

export type CallEdit = { readonly edits: readonly Edit[]; readonly needs?: string }

export const sdks: readonly Sdk[] = [
  {
    name: 'anthropic',
    title: 'Anthropic SDK',
    packages: ['@anthropic-ai/sdk'],
    entry: 'everlong/anthropic',
    calls: { from: ['@anthropic-ai/sdk'], names: ['default', 'Anthropic'] },
    edit: (site, { managed }) => addToLists(site, { middleware: `${managed}.middleware` }, 'first'),
    byHand: [
      "import { everlong } from 'everlong/anthropic'",
      'const managed = everlong()',
      'new Anthropic({ middleware: [managed.middleware] })',
    ],
  },
  {
    name: 'ai-sdk',
    title: 'Vercel AI SDK',
    packages: ['ai'],
    entry: 'everlong/ai-sdk',
    calls: { from: ['ai'], names: ['generateText', 'streamText', 'ToolLoopAgent'] },
    edit: wrapModel,
    byHand: [
      "import { everlong } from 'everlong/ai-sdk'",
      'const managed = everlong()',
      'wrapLanguageModel({ model, middleware: managed.middleware })',
    ],
  },
  {
    name: 'langchain',
    title: 'LangChain',
    packages: ['langchain'],
    entry: 'everlong/langchain',
    calls: { from: ['langchain'], names: ['createAgent'] },
    edit: (site, { managed }) => addToLists(site, { middleware: `${managed}.middleware` }, 'first'),
    byHand: [
      "import { everlong } from 'everlong/langchain'",
      'const managed = everlong()',
      'createAgent({ model, tools, middleware: [managed.middleware] })',
    ],
  },
  {
    name: 'mastra',
    title: 'Mastra',
    packages: ['@mastra/core'],
    entry: 'everlong/mastra',
    calls: { from: ['@mastra/core', '@mastra/core/agent'], names: ['Agent'] },
    edit: (site, { managed }) => {
      const processor = `${managed}.processor`
      return addToLists(site, { inputProcessors: processor, errorProcessors: processor }, 'last')
    },
    byHand: [
      "import { everlong } from 'everlong/mastra'",
      'const managed = everlong()',
      'new Agent({ …, inputProcessors: [managed.processor], errorProcessors: [managed.processor] })',
    ],
  },
  {
    name: 'openai',
    title: 'OpenAI SDK',
    packages: ['openai'],
    entry: 'everlong/openai',
    byHand: [
      "import { everlong, openai } from 'everlong/openai'",
      'const { chat } = everlong({ model: openai({ model }) }) // writes the summaries',
      'const completion = await chat(messages, { model, tools }, ({ messages }) =>',
      '  client.chat.completions.create({ model, messages, tools }))',
    ],
  },
  {
    name: 'openai-agents',
    title: 'OpenAI Agents SDK',
    packages: ['@openai/agents'],
    entry: 'everlong/openai-agents',
    byHand: [
      "import { openai } from 'everlong/openai'",
      "import { everlong } from 'everlong/openai-agents'",
      "const managed = everlong({ model: openai({ model: 'gpt-5-mini' }) }) // writes the summaries",
      "new Agent({ …, model: managed.wrapModel(model, 'gpt-5') })",
      'await run(agent, input, { session: managed.wrapSession(session) })',
    ],
  },
  {
    name: 'claude-agent-sdk',
    title: 'Claude Agent SDK',
    packages: ['@anthropic-ai/claude-agent-sdk'],
    entry: 'everlong/claude-agent-sdk',
    byHand: [
      "import { anthropic } from 'everlong/anthropic'",
      "import { everlong } from 'everlong/claude-agent-sdk'",
      "import { jsonlSessions } from 'everlong/node'",
      "const { sessionStore, hooks, prepare } = everlong({ model: anthropic({ model: 'claude-haiku-4-5' }), store: jsonlSessions({ folder: 'sessions' }) })",
      'await prepare(resume)',
      'query({ prompt, options: { resume, sessionStore, hooks } })',
    ],
  },
]

export type FileEdit =
  | { readonly type: 'edited'; readonly text: string; readonly left: readonly CallSite[] }
  | { readonly type: 'already' }
  | { readonly type: 'not-used' }
  | { readonly type: 'by-hand'; readonly line: number; readonly why: string }

/** Adds Everlong to one file. `left` has the calls that a person must change. */
export function editFile(source: Source, sdk: Sdk): FileEdit {
  const uses = source.imports.find(({ from }) =>
    sdk.packages.some((name) => from === name || from.startsWith(`${name}/`)),
  )
  if (!uses) return { type: 'not-used' }
  if (source.imports.some(({ from }) => from === sdk.entry)) return { type: 'already' }
  const calls = sdk.calls ? callsOf(source, sdk.calls) : []
  const { edit } = sdk
  if (!edit)
    return { type: 'by-hand', line: uses.statement.loc.start.line, why: 'how it is used cannot be changed by code' }
  if (calls.length === 0) return { type: 'not-used' }
  if (/\beverlong\b/.test(source.text))
    return { type: 'by-hand', line: calls[0]?.line ?? 1, why: 'the file uses the name everlong already' }

  const context: EditContext = { source, managed: freeName(source.text) }
  const made = calls.map((site) => ({ site, result: edit(site, context) }))
  const edits = made.flatMap(({ result }) => result?.edits ?? [])
  const left = made.filter(({ result }) => !result).map(({ site }) => site)
  if (edits.length === 0)
    return { type: 'by-hand', line: calls[0]?.line ?? 1, why: 'the options are not written out there' }
  const needed = made.flatMap(({ result }) => result?.needs ?? [])
  const text = applyEdits(source.text, [...edits, ...importEdits({ context, sdk, needed })])
  return { type: 'edited', text, left }
}

/** `new Anthropic()` becomes `new Anthropic({ middleware: [managed.middleware] })`. */
function addToLists(
  site: CallSite,
  values: Readonly<Record<string, string>>,
  place: 'first' | 'last',
): CallEdit | undefined {
  const options = optionsOf(site)
  if (options === 'unknown') return undefined
  const written = (keys: readonly string[]) => keys.map((key) => `${key}: [${values[key]}]`)
  if (options === 'none') {
    const { node } = site
    const text = `{ ${written(Object.keys(values)).join(', ')} }`
    const hasBrackets = (node.callee as Node).end !== node.end
    return { edits: [hasBrackets ? insert(node.end - 1, text) : insert(node.end, `(${text})`)] }
  }
  const present = Object.keys(values).filter((key) => propertyOf(options.properties, key))
  const missing = Object.keys(values).filter((key) => !present.includes(key))
  const edits = present.map((key) => addElement(propertyOf(options.properties, key), values[key] ?? '', place))
  if (missing.length > 0) edits.push(addProperties(options, written(missing)))
  const made = edits.filter((edit) => edit !== undefined)
  return made.length === edits.length ? { edits: made } : undefined
}

/** Undefined if the list is not a literal. */
function addElement(property: Node | undefined, value: string, place: 'first' | 'last'): Edit | undefined {
  const list = property?.value as Node | undefined
  if (list?.type !== 'ArrayExpression') return undefined
  const elements = nodesIn(list.elements)
  const [first, last] = [elements[0], elements.at(-1)]
  if (!first || !last) return { start: list.start, end: list.end, text: `[${value}]` }
  return place === 'first' ? insert(first.start, `${value}, `) : insert(last.end, `, ${value}`)
}

/** After the opening brace, each on its own line if the other properties are. */
function addProperties(
  { node, properties }: { node: Node; properties: readonly Node[] },
  written: readonly string[],
): Edit {
  const [first] = properties
  if (!first) return { start: node.start, end: node.end, text: `{ ${written.join(', ')} }` }
  const { line, column } = first.loc.start
  const before = line > node.loc.start.line ? `\n${' '.repeat(column)}` : ' '
  return insert(node.start + 1, written.map((property) => `${before}${property},`).join(''))
}

/** Wraps `model: anthropic('…')`. A model that may be a name cannot be wrapped, so `prepareStep` reduces each step instead. */
function wrapModel(site: CallSite, { source, managed }: EditContext): CallEdit | undefined {
  const options = optionsOf(site)
  if (options === 'none' || options === 'unknown') return undefined
  const model = propertyOf(options.properties, 'model')
  const value = model?.value as Node | undefined
  if (!value) return undefined
  const made = value.type === 'Identifier' ? constantIn(source, nameOf(value)) : value
  if (made?.type === 'CallExpression' && nameOf(made.callee) !== 'wrapLanguageModel') {
    const inner = model?.shorthand === true ? 'model' : `model: ${textOf(source, value)}`
    const wrapped = `wrapLanguageModel({ ${inner}, middleware: ${managed}.middleware })`
    const { start, end } = model?.shorthand === true ? (model as Node) : value
    return {
      edits: [{ start, end, text: model?.shorthand === true ? `model: ${wrapped}` : wrapped }],
      needs: 'wrapLanguageModel',
    }
  }
  if (made?.type === 'CallExpression' || propertyOf(options.properties, 'prepareStep')) return undefined
  return { edits: [addProperties(options, [`prepareStep: ${managed}.prepareStep`])] }
}

/** The import of Everlong and its variable after the file's imports, in their style. */
function importEdits({
  context,
  sdk,
  needed,
}: {
  context: EditContext
  sdk: Sdk
  needed: readonly string[]
}): readonly Edit[] {
  const { source, managed } = context
  const last = source.importStatements.at(-1)
  if (!last) return []
  const written = textOf(source, last)
  const [end, quote] = [written.endsWith(';') ? ';' : '', written.includes('"') ? '"' : "'"]
  const newline = source.text.includes('\r\n') ? '\r\n' : '\n'
  const lines = [
    '',
    `import { everlong } from ${quote}${sdk.entry}${quote}${end}`,
    '',
    `const ${managed} = everlong()${end}`,
  ]
  return [insert(last.end, lines.join(newline)), ...neededImports(source, sdk, needed)]
}

function neededImports({ imports }: Source, sdk: Sdk, needed: readonly string[]): readonly Edit[] {
  return [...new Set(needed)].flatMap((name) => {
    const own = imports.filter(({ from }) => sdk.packages.includes(from))
    const [first] = own
    if (!first || own.some((imported) => imported.name === name)) return []
    const lastName = nodesIn(first.statement.specifiers).at(-1)
    return lastName ? [insert(lastName.end, `, ${name}`)] : []
  })
}

function freeName(text: string): string {
  const isFree = (name: string) => !new RegExp(`\\b${name}\\b`).test(text)
  return ['managed', 'managedContext', 'everlongContext'].find(isFree) ?? 'managedByEverlong'
}

function insert(at: number, text: string): Edit {
  return { start: at, end: at, text }
}
