// Commands that only look at things. They still ask; plan mode lets them.
import type { Script } from './script.ts'

const programs = /^(?:ls|pwd|cat|head|tail|wc|file|stat|du|df|which|whoami|date|echo|grep|rg|tree|uname)$/
const gitCommands = /^(?:status|log|diff|show|blame|ls-files|rev-parse|shortlog|describe)$/

export function onlyLooks({ plain }: Script): boolean {
  return (
    plain?.every(([program = '', sub = '', ...rest]) => {
      if (program !== 'git')
        return programs.test(program) && !(program === 'rg' && /^--pre/.test([sub, ...rest].join()))
      return gitCommands.test(sub) && !rest.some((word) => /^(?:-o|--out|--ext-diff|--textconv|-O|--open)/.test(word))
    }) ?? false
  )
}
