// Writes docs/settings.md from the table of settings. The texts are the comments of the table, so they are read from its source.
import type { Fields, Setting, Variable } from '../rules.ts'
import { settingsTable } from '../table.ts'

const head = `# Settings

<!-- Written by engine/src/settings.test.ts from engine/src/core/settings/table.ts: npm test -- engine/src/settings -u -->

    createEngine({ model, settings: { autoCompactAt: '60%', summary: { model: 'claude-haiku-4-5' } } })

Every setting is optional, and the defaults suit most agents. These five matter most:

- \`autoCompactAt\`: the size at which the context is compacted. Lower it if your model gets worse long before its window is full.
- \`compaction\`: \`'ask'\` asks you first, \`'manual'\` leaves it to \`session.compact()\`, \`'off'\` turns everything off.
- \`contextWindow\`: set it for a model that Everlong does not know, such as a local one.
- \`economy\`: \`'thrifty'\` spends less and remembers less, \`'claude-code'\` fills the window before it compacts.
- \`summary.model\`: a cheaper model that writes the summaries.

**Which value counts.** Environment variables come before settings, and settings before defaults. \`createEngine({ environment: {} })\`
reads no variables. A flag is set by \`1\`, \`true\`, \`yes\` or \`on\`.

**Mistakes.** A name that does not exist and a value that cannot be read are ignored, and \`session.explain().warnings\` says what is
allowed. It also names a threshold or limit that the window does not allow, with the value that is used instead. \`autoCompactEnabled\` of
other tools is understood: \`false\` is \`compaction: 'manual'\`.

A dot means nesting: \`summary.handoverTokens\` is \`settings: { summary: { handoverTokens } }\`. *claude-code* is the default with
\`economy: 'claude-code'\`.

## When and how far`

/** `source`: the text of table.ts. */
export function settingsPage(source: string): string {
  const comments = commentsIn(source)
  const groups = Object.entries<Fields[string]>(settingsTable).filter(([, field]) => 'fields' in field)
  const single = Object.entries<Fields[string]>(settingsTable).filter(([, field]) => !('fields' in field))
  const sections = groups.map(([name, field]) => [
    `## ${commentOf(comments, name)}`,
    tableOf(rowsOf({ [name]: field }, comments)),
  ])
  return `${[head, tableOf(rowsOf(Object.fromEntries(single), comments)), ...sections.flat()].join('\n\n')}\n`
}

type Comments = ReadonlyMap<string, string>

/** Comments by path of the setting. A deeper setting is indented further, thanks to our formatter, so no parser is needed. */
function commentsIn(source: string): Comments {
  const comments = new Map<string, string>()
  const open: { readonly indent: number; readonly name: string }[] = []
  for (const [, comment = '', indent = '', name = ''] of source.matchAll(
    /(?:^ *\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n)?^( +)(\w+): (?:setting\(|\{)/gm,
  )) {
    while ((open.at(-1)?.indent ?? -1) >= indent.length) open.pop()
    if (name === 'fields') continue
    open.push({ indent: indent.length, name })
    const text = comment
      .replaceAll(/^ *\* ?/gm, '')
      .replaceAll(/\s+/g, ' ')
      .trim()
    if (text !== '') comments.set(open.map((each) => each.name).join('.'), text)
  }
  return comments
}

function commentOf(comments: Comments, path: string): string {
  const text = comments.get(path)
  if (text === undefined) throw new Error(`The setting ${path} has no comment in the table of settings.`)
  return text
}

function tableOf(rows: readonly string[]): string {
  return ['| setting | accepts | default | meaning |', '| --- | --- | --- | --- |', ...rows].join('\n')
}

function rowsOf(fields: Fields, comments: Comments, prefix = ''): readonly string[] {
  return Object.entries(fields).flatMap(([name, field]) => {
    const path = `${prefix}${name}`
    if ('fields' in field) return rowsOf(field.fields, comments, `${path}.`)
    const [meaning = '', written] = commentOf(comments, path).split(/ ?Default: (?=[^.]+\.$)/)
    const standard = written?.slice(0, -1) ?? valueText(field.default)
    if (standard === undefined) throw new Error(`The comment of ${path} must end with "Default: …".`)
    const other = field.late === undefined ? '' : ` (claude-code: ${valueText(field.late)})`
    return `| \`${path}\` | ${field.wants} | ${standard}${other} | ${meaning}${variablesText(field)} |`
  })
}

function valueText(value: unknown): string | undefined {
  if (value === undefined) return undefined
  return typeof value === 'number' && value >= 1
    ? value.toLocaleString('en')
    : `\`${JSON.stringify(value).replaceAll('"', "'")}\``
}

function variablesText({ environment = [] }: Setting<unknown>): string {
  const text = (variable: Variable) =>
    variable.type === 'flag'
      ? `\`${variable.name}\`${variable.value === true ? '' : ` (\`${variable.value}\`)`}`
      : `\`${variable.name}\``
  return environment.length === 0 ? '' : ` Environment: ${environment.map(text).join(', ')}.`
}
