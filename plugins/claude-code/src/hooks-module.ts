// A hooks module of Claude Code: answers the commands for people without the model. Where it cannot run, the hook of
// UserPromptExpansion answers. Claude Code reads from the source which calls it makes, so they are written out.
type Ran = { readonly exitCode: number; readonly stdout: string; readonly stderr: string }
type Answer = { readonly text: string; readonly isTextDisplayOnly: true }
type Engine = {
  readonly session: { readonly id: () => Promise<string> }
  readonly process: {
    readonly hookEnv: () => Promise<Readonly<Record<string, string>>>
    readonly run: (
      argv: readonly string[],
      options: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
    ) => Promise<Ran>
  }
}
type Event = { readonly command: string }
type Hook = ($: Engine, e: Event, next: (e: Event) => Promise<Answer>) => Promise<Answer>
type On = (event: 'command.run', matcher: { readonly command: readonly string[] }, hook: Hook) => void

export function register(on: On): void {
  const command = ['everlong:context', 'everlong:compact', 'everlong:undo', 'everlong:lost']
  on('command.run', { command }, async ($, e, next) => {
    const ran = await answered().catch(() => undefined)
    return ran?.exitCode === 0 ? { text: `\n${ran.stdout.trimEnd()}`, isTextDisplayOnly: true } : next(e)

    async function answered(): Promise<Ran> {
      const env = await $.process.hookEnv()
      const { CLAUDE_PLUGIN_ROOT: root = '', CLAUDE_PLUGIN_DATA: data = '', CLAUDE_PROJECT_DIR: cwd = '' } = env
      const name = e.command.slice('everlong:'.length)
      const program = ['node', `${root}/dist/everlong.js`, name, await $.session.id(), data]
      return $.process.run(program, { cwd, env: { CLAUDE_PLUGIN_DATA: data } })
    }
  })
}
