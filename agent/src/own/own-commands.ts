// Slash commands of one's own: Markdown files in `commands` folders, and skills. They become prompts.
import type { Skill } from '../skills/skills.ts'
import { skillText } from '../skills/skills.ts'
import { byName, type Found, type MarkdownFile, markdownFiles } from './markdown-file.ts'

export type OwnCommand = {
  /** `git:commit` for `git/commit.md`. */
  readonly name: string
  /** As shown in help: `[issue]`. */
  readonly arguments?: string
  readonly help: string
  /** The prompt, with what was typed after the name. */
  readonly expand: (words: string) => string
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

/** A string says why not. */
function commandOf({ path, name, head, body }: MarkdownFile): OwnCommand | string {
  const own = name.replaceAll('/', ':')
  if (!/^[\w.:-]{1,64}$/.test(own)) return `${path}: use letters, digits, ".", "-" and "_" in the name`
  if (body === '') return `${path}: it is empty`
  const usage = head['argument-hint']
  return {
    name: own,
    ...(usage === undefined ? {} : { arguments: usage.slice(0, 60) }),
    help: (head.description ?? body.split('\n', 1)[0] ?? '').slice(0, 200).toWellFormed(),
    expand: (words) => withArguments(body, words),
  }
}

/** `$ARGUMENTS` is all of it, `$1` to `$9` its words. Without any of them, it follows the text. */
export function withArguments(body: string, words: string): string {
  const parts = [...words.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, a, b, c]) => a ?? b ?? c ?? '')
  if (!/\$(?:ARGUMENTS\b|[1-9]\b)/.test(body)) return words === '' ? body : `${body}\n\n${words}`
  return body.replace(/\$(ARGUMENTS\b|[1-9]\b)/g, (_, name: string) =>
    name === 'ARGUMENTS' ? words : (parts[Number(name) - 1] ?? ''),
  )
}

/** A skill that the person calls by its name. */
export function commandOfSkill(skill: Skill): OwnCommand {
  return {
    name: skill.name,
    arguments: '[words]',
    help: skill.description.replace(/\s+/g, ' ').slice(0, 200),
    expand: (words) => {
      const task = words === '' ? '' : `\n\nWith: ${words}`
      return `Use the skill ${skill.name}. Its files are in ${skill.folder}\n\n${skillText(skill)}${task}`
    },
  }
}
