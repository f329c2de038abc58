// Custom slash commands: Markdown files in `commands` folders, and skills. They become prompts.
import type { Skill } from '../skills/skills.ts'
import { skillText } from '../skills/skills.ts'
import { isFillable, type PromptPart, partsOf, placeRule, withArguments } from './command-text.ts'
import { byName, type Found, type MarkdownFile, markdownFiles } from './markdown-file.ts'

export type OwnCommand = {
  /** `git:commit` for `git/commit.md`. */
  readonly name: string
  /** In the format of the help: `[issue]`. */
  readonly arguments?: string
  readonly help: string
  /** The prompt with the text after the name, or the reason why there is none. */
  readonly expand: (words: string) => readonly PromptPart[] | { readonly why: string }
  /** Its own text, in which `@path` attaches a file. */
  readonly text?: string
  /** The shell commands that it runs, as written in its file. */
  readonly shell?: { readonly path: string; readonly commands: readonly string[] }
  /** The reason why it may not be used. */
  readonly refusal?: string
}

/** Folders with commands, the most important first. */
export function findOwnCommands(folders: readonly string[]): Found<OwnCommand> {
  const read = folders.map(markdownFiles)
  const named = read.flatMap(({ found }) => found.map(commandOf))
  return {
    found: byName(named.flatMap((each) => (typeof each === 'string' ? [] : [each]))),
    problems: [
      ...read.flatMap(({ problems }) => problems),
      ...named.flatMap((each) => (typeof each === 'string' ? [each] : [])),
    ],
  }
}

/** Returns a string with the reason if it is invalid. */
function commandOf({ path, name, head, body }: MarkdownFile): OwnCommand | string {
  const own = name.replaceAll('/', ':')
  if (!/^[\w.:-]{1,64}$/.test(own)) return `${path}: use letters, digits, ".", "-" and "_" in the name`
  if (body === '') return `${path}: it is empty`
  const usage = head['argument-hint']
  const parts = partsOf(body)
  const commands = parts.flatMap((part) => (part.type === 'command' ? [part.command] : []))
  const unsafe = commands.find((command) => !isFillable(command))
  if (unsafe !== undefined) return `${path}: in !\`${unsafe}\`, ${placeRule}`
  return {
    name: own,
    ...(usage === undefined ? {} : { arguments: usage.slice(0, 60) }),
    help: (head.description ?? body.split('\n', 1)[0] ?? '').slice(0, 200).toWellFormed(),
    expand: (words) => withArguments(parts, words),
    text: parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n'),
    ...(commands.length === 0 ? {} : { shell: { path, commands } }),
  }
}

/** A skill that the person calls by its name. */
export function commandOfSkill(skill: Skill): OwnCommand {
  return {
    name: skill.name,
    arguments: '[words]',
    help: skill.description.replace(/\s+/g, ' ').slice(0, 200),
    expand: (words) => {
      const task = words === '' ? '' : `\n\nWith: ${words}`
      const read = skillText(skill)
      if (read.type === 'unreadable') return read
      const text = `Use the skill ${skill.name}. Its files are in ${skill.folder}\n\n${read.text}${task}`
      return [{ type: 'text', text }]
    },
  }
}
