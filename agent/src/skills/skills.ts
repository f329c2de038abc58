// Skills: folders with a SKILL.md. Its head says what the skill is for, the text below how to do it. Only the head is read until
// a skill is used.
import { existsSync, readdirSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { isWithin } from '../files/paths.ts'
import { type FileText, readRegularFile } from '../files/regular-file.ts'
import { bodyOf, headOf } from '../own/markdown-file.ts'
import { disk } from '../permissions/disk.ts'
import { isSecretFile } from '../permissions/secrets.ts'

export type Skill = {
  readonly name: string
  readonly description: string
  /** The real folder, with all links followed: a skill may name other files in it. */
  readonly folder: string
  /** The folder of skills that it was found in, with all links followed. */
  readonly parent: string
}

export type FoundSkills = {
  /** By name. If two have one name, the one in the earlier folder counts. */
  readonly skills: readonly Skill[]
  readonly problems: readonly string[]
}

const maxBytes = 256 * 1024

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
  const skills = realpathSync(parent)
  const read = readInside(path, skills)
  if (read.type === 'unreadable') return problem(read.why)
  const head = headOf(read.text)
  if (!head) return problem('expected a head between lines of "---" with name and description')
  if (!head.description) return problem('the head has no description, so nobody knows when to use it')
  const own = head.name ?? name
  if (!/^[\w.-]{1,64}$/.test(own)) return problem('use letters, digits, ".", "-" and "_" in the name')
  const folder = realpathSync(join(parent, name))
  return { skill: { name: own, description: head.description.slice(0, 1_000).toWellFormed(), folder, parent: skills } }
}

/** A folder of somebody else may contain a link to anything. */
function readInside(path: string, parent: string): FileText {
  const unreadable = (why: string): FileText => ({ type: 'unreadable', why })
  const real = disk.realPath(path)
  if (!isWithin(parent, real)) return unreadable('a link leads out of the folder of skills')
  if (isSecretFile(real)) return unreadable('a link leads to a file with secrets')
  return readRegularFile(real, maxBytes)
}

/** Its current text. The file is checked again, because it may have been replaced since it was found. */
export function skillText({ name, folder, parent }: Skill): FileText {
  const path = join(folder, 'SKILL.md')
  const read = readInside(path, parent)
  if (read.type === 'text') return { type: 'text', text: bodyOf(read.text) }
  return { type: 'unreadable', why: `The skill ${name} cannot be used. ${path}: ${read.why}` }
}
