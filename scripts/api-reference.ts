// The reference in docs/api, made from the compiler's view of the public entries: a page for each subpath, and an index. A
// page defines its exported names, and the other types that these mention.
import { posix } from 'node:path'
import { API, type Project, type Symbol as Sym, SymbolFlags } from 'typescript/unstable/sync'
import { type Declaration, declarationOf, originalOf } from './api-declaration.ts'
import { engine, entries } from './public-names.ts'
import { root } from './steps.ts'

const note = '<!-- Written by scripts/api-reference.test.ts from the source. -->'

export type Page = {
  readonly subpath: string
  /** In docs/api. */
  readonly file: string
  readonly text: string
  /** Every name of the language, of Node or of an SDK that the page mentions. */
  readonly foreign: ReadonlySet<string>
}

type Exported = { readonly name: string; readonly symbol: Sym; readonly section: string }
type Entry = {
  readonly subpath: string
  readonly file: string
  readonly intro: string
  readonly names: readonly Exported[]
}
/** Where a symbol is defined in the reference. */
type Home = { readonly entry: Entry; readonly name: string }

/** The pages, the index first. */
export function apiReference(): readonly Page[] {
  const api = new API({ cwd: root })
  try {
    const config = posix.join(root, 'tsconfig.build.json')
    const project = api.updateSnapshot({ openProjects: [config] }).getProject(config)
    if (!project) throw new Error(`The compiler cannot open ${config}.`)
    const all = entries.map(([subpath, source]) => entryOf(project, subpath, source))
    return [indexOf(all), ...pagesOf(all, project)]
  } finally {
    api.close()
  }
}

function entryOf(project: Project, subpath: string, source: string): Entry {
  const file = project.program.getSourceFile(posix.join(engine, source))
  const module = file && project.checker.getSymbolAtLocation(file)
  if (!module) throw new Error(`${source} is not part of the project.`)
  const name = posix.join('everlong', subpath)
  const names = project.checker.getExportsOfModule(module).map((symbol) => ({
    name: symbol.name,
    symbol: originalOf(symbol, project.checker),
    section: sectionOf(symbol.name, file.text),
  }))
  return { subpath: name, file: `${posix.basename(name)}.md`, intro: introOf(file.text), names }
}

/** The comment at the top of an entry. */
function introOf(text: string): string {
  const comment = /^(?:\/\/.*\n)+/.exec(text)?.[0] ?? ''
  const sentence = comment
    .replaceAll(/^\/\/ ?/gm, '')
    .replace(/^everlong\S*: /, '')
    .trim()
  return sentence.charAt(0).toUpperCase() + sentence.slice(1)
}

/** Comments between the exports of an entry are the titles of its sections. */
function sectionOf(name: string, text: string): string {
  let title = ''
  for (const line of text.replace(/^(?:\/\/.*\n)+/, '').split('\n')) {
    if (line.startsWith('// ')) title = line.slice(3)
    else if (new RegExp(`\\b${name}\\b`).test(line.replace(/from '.*'$/, ''))) return title
  }
  return title
}

/** Every public name by its purpose. `npm run check` compares it with the entries. */
function indexOf(all: readonly Entry[]): Page {
  const rows = all.flatMap(({ subpath, file, intro, names }) =>
    [...new Set(names.map(({ section }) => section))].map((section) => {
      const own = names.filter((one) => one.section === section).toSorted(byName)
      return `| [${subpath}](${file}) | ${section || intro.replace(/[.:][\s\S]*/, '').replaceAll('\n', ' ')} | ${own.map(({ name }) => `\`${name}\``).join(' ')} |`
    }),
  )
  const parts = [
    '# Public names',
    note,
    'What you can import, and where from. `everlong/internal` and its subpaths are for our own packages: they change without notice.',
    ['| import | for | names |', '| --- | --- | --- |', ...rows].join('\n'),
  ]
  return { subpath: '', file: 'README.md', text: `${parts.join('\n\n')}\n`, foreign: new Set() }
}

function pagesOf(all: readonly Entry[], project: Project): readonly Page[] {
  const homes = new Map<number, Home>()
  for (const entry of all) {
    for (const { symbol, name } of entry.names) if (!homes.has(symbol.id)) homes.set(symbol.id, { entry, name })
  }
  const isOurs = (path: string) => path.startsWith(posix.join(engine, 'src'))
  const declarations = new Map<number, Declaration>()
  const declared = (symbol: Sym): Declaration => {
    const known = declarations.get(symbol.id) ?? declarationOf(symbol, project, isOurs)
    declarations.set(symbol.id, known)
    return known
  }
  return all.map((entry) => {
    const own = entry.names.filter(({ symbol }) => homes.get(symbol.id)?.entry === entry)
    const others: Sym[] = []
    const queue = own.map(({ symbol }) => symbol)
    for (let symbol = queue.shift(); symbol; symbol = queue.shift()) {
      for (const used of declared(symbol).uses) {
        if (homes.has(used.id)) continue
        homes.set(used.id, { entry, name: used.name })
        others.push(used)
        queue.push(used)
      }
    }
    return page({ entry, own, others, homes, declared, project })
  })
}

type PageInput = {
  readonly entry: Entry
  readonly own: readonly Exported[]
  readonly others: readonly Sym[]
  readonly homes: ReadonlyMap<number, Home>
  readonly declared: (symbol: Sym) => Declaration
  readonly project: Project
}

function page({ entry, own, others, homes, declared, project }: PageInput): Page {
  const { subpath, file, intro, names } = entry
  const local = new Map([
    ...own.map(({ name, symbol }) => [name, symbol.id] as const),
    ...others.map(({ name, id }) => [name, id] as const),
  ])
  const foreign = new Set<string>()
  const item = (symbol: Sym, title: string): string => {
    const { code, uses, foreign: mentioned } = declared(symbol)
    for (const name of mentioned) foreign.add(name)
    const elsewhere = new Map<string, string>()
    const nameOf = (one: Sym): string => {
      if (one === symbol) return title
      const home = homes.get(one.id)
      if (!home || home.entry === entry) return home?.name ?? one.name
      return local.has(home.name) ? `import('${home.entry.subpath}').${home.name}` : home.name
    }
    for (const used of uses) {
      const home = homes.get(used.id)
      if (home && home.entry !== entry)
        elsewhere.set(home.name, `[${home.name}](${home.entry.file}#${anchorOf(home.name)})`)
    }
    const links = [...elsewhere.values()].toSorted().join(', ')
    return [
      `### ${title}`,
      project.checker.getDocumentationCommentOfSymbol(symbol).trim(),
      `\`\`\`ts\n${code(nameOf)}\n\`\`\``,
      links && `Defined elsewhere: ${links}.`,
    ]
      .filter((part) => part !== '')
      .join('\n\n')
  }
  const sections = [...new Set(own.map(({ section }) => section))]
  const imported = names.filter(({ symbol }) => homes.get(symbol.id)?.entry !== entry)
  const parts = [
    `# ${subpath}`,
    note,
    intro,
    ...sections.flatMap((section) => [
      section && `## ${section}`,
      ...inOrder(own.filter((one) => one.section === section)).map(({ symbol, name }) => item(symbol, name)),
    ]),
    ...(imported.length > 0 ? ['## Also exported here', imported.map((one) => linkTo(one, homes)).join('\n')] : []),
    ...(others.length > 0
      ? [
          '## Other types',
          'These are not exported. The declarations above mention them.',
          ...others.toSorted(byName).map((symbol) => item(symbol, symbol.name)),
        ]
      : []),
  ]
  return { subpath, file, text: `${parts.filter((part) => part !== '').join('\n\n')}\n`, foreign }
}

function linkTo({ name, symbol }: Exported, homes: PageInput['homes']): string {
  const home = homes.get(symbol.id)
  return `- [${name}](${home?.entry.file}#${anchorOf(home?.name ?? name)})`
}

/** Functions and classes before types, each by name. */
function inOrder(names: readonly Exported[]): readonly Exported[] {
  const isValue = ({ symbol }: Exported) => (symbol.flags & SymbolFlags.Value) !== 0
  const sorted = names.toSorted(byName)
  return [...sorted.filter(isValue), ...sorted.filter((one) => !isValue(one))]
}

function byName(one: { readonly name: string }, other: { readonly name: string }): number {
  return one.name < other.name ? -1 : 1
}

function anchorOf(title: string): string {
  return title.toLowerCase()
}
