// Skills: folders with a SKILL.md, which says in its head what it is for and below how it is done. Only the head is read
// until a skill is used.
import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isWithin } from '../files/paths.ts'
import { bodyOf, headOf } from '../own/markdown-file.ts'

export type Skill = {
  readonly name: string
  readonly description: string
  /** The real folder, with all links followed: a skill may name other files in it. */
  readonly folder: string
}

export type FoundSkills = {
  /** By name; of two with one name, the one in the earlier folder. */
  readonly skills: readonly Skill[]
  readonly problems: readonly string[]
}

const largestFile = 256 * 1024

export function findSkills(folders: readonly string[]): FoundSkills {
  const skills = new Map<string, Skill>()
  const problems: string[] = []
  for (const folder of folders.filter((each) => existsSync(each))) {
    for (const name of readdirSync(folder).sort()) {
      if (!existsSync(join(folder, name, 'SKILL.md'))) continue
      const read = readSkill(folder, name)
      if ('problem' in read) problems.push(read.problem)
      else if (!skills.has(read.skill.name)) skills.set(read.skill.name, read.skill)
    }
  }
  return { skills: [...skills.values()].sort((a, b) => (a.name < b.name ? -1 : 1)), problems }
}

function readSkill(parent: string, name: string): { readonly skill: Skill } | { readonly problem: string } {
  const path = join(parent, name, 'SKILL.md')
  const problem = (why: string) => ({ problem: `${path}: ${why}` })
  const folder = realpathSync(join(parent, name))
  // Somebody else's folder may hold a link to anything.
  if (!isWithin(realpathSync(parent), realpathSync(path))) return problem('a link leads out of the folder of skills')
  if (statSync(path).size > largestFile) return problem('it is larger than 256 KB')
  const head = headOf(readFileSync(path, 'utf8'))
  if (!head) return problem('expected a head between lines of "---" with name and description')
  if (!head.description) return problem('the head has no description, so nobody knows when to use it')
  const own = head.name ?? name
  if (!/^[\w.-]{1,64}$/.test(own)) return problem('use letters, digits, ".", "-" and "_" in the name')
  return { skill: { name: own, description: head.description.slice(0, 1_000).toWellFormed(), folder } }
}

export function skillText({ folder }: Skill): string {
  return bodyOf(readFileSync(join(folder, 'SKILL.md'), 'utf8'))
}
