// Commands for the work itself: /init, /export, /add-dir.
import { existsSync, statSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { blocksOf, isText, isToolUse, messagesOf, textOf, type ViewMessage } from 'everlong/internal'
import { typedWords } from '../command-message.ts'
import { expandHome } from '../files/paths.ts'
import { subjectOf } from '../render/calls.ts'
import { counted } from '../render/numbers.ts'
import { error, type SlashCommand, text } from './command.ts'

const initPrompt = `Look at this project and write AGENTS.md in its root: what a coding agent must know to work here. If there is one already, improve it and keep what is right.

Find out from the files, do not guess:
- The commands to build, check and test, and how to run a single test.
- The parts of the project and how they work together, as far as several files must be read to see it.
- Rules of this project that differ from common practice, also those in README, CONTRIBUTING, CLAUDE.md, .cursorrules and .github.

Leave out what every programmer knows and what a look at the file list shows. Keep it below 100 lines.`

export const init: SlashCommand = {
  name: 'init',
  arguments: '[instructions]',
  help: 'lets the agent look at the project and write AGENTS.md',
  run: (words) => ({
    type: 'submit',
    prompt: { text: words === '' ? initPrompt : `${initPrompt}\n\n${words}`, command: `/init ${words}`.trim() },
  }),
}

export const exportConversation: SlashCommand = {
  name: 'export',
  arguments: '[FILE]',
  help: 'writes the conversation to a Markdown file',
  run: async (words, { session, folder, name }) => {
    const path = resolve(folder, expandHome(words === '' ? `${name() ?? session().id}.md` : words))
    if (existsSync(path)) return error(`${path} is there already. Give another name: /export FILE.`)
    const messages = messagesOf([...(await session().entries())])
    const parts = messages.flatMap((message) => markdownOf(message, folder))
    if (parts.length === 0) return text('Nothing was said yet.')
    writeFileSync(path, `${parts.join('\n\n')}\n`, { flag: 'wx', mode: 0o600 })
    return text(`Written: ${path} (${counted(parts.length, 'part')}).`)
  },
}

/** What was said, and one line for each call. */
function markdownOf({ role, origin, content }: ViewMessage, folder: string): readonly string[] {
  const said = textOf(blocksOf(content).filter(isText)).trim()
  if (role === 'assistant') {
    const calls = blocksOf(content)
      .filter(isToolUse)
      .map(({ name, input }) => `- ${name}: \`${subjectOf({ name, input }, folder).replaceAll('`', "'")}\``)
    return [...(said === '' ? [] : [`## Agent\n\n${said}`]), ...(calls.length === 0 ? [] : [calls.join('\n')])]
  }
  if (said === '') return []
  if (origin === 'human') return [`## You\n\n${typedWords(said)}`]
  return origin === 'summary' ? [`## Summary\n\n${said}`] : []
}

export const addDir: SlashCommand = {
  name: 'add-dir',
  arguments: 'FOLDER',
  help: 'adds a folder to the workspace until you leave',
  run: async (words, { toolSet: { addFolder }, folder, session }) => {
    if (words === '') return error('Say which folder: /add-dir ../other-project.')
    const path = resolve(folder, expandHome(words))
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) return error(`${path} is not a folder.`)
    if (!addFolder) return error('There are no tools that could work there.')
    const real = await addFolder(path)
    const content = `The user added this folder to the workspace: ${real}`
    session().add({ role: 'user', origin: 'attachment', attachment: 'Workspace', content })
    return text(`${real} belongs to the workspace until you leave. Its own instruction files are not read.`)
  },
}
