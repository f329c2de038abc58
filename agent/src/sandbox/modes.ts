// Whether commands run in the operating system's sandbox, and the messages about it.

/** on: if it can start, commands in it do not ask. ask: they ask. required: without it no command runs. */
export const sandboxModes = ['on', 'ask', 'required', 'off'] as const
export type SandboxMode = (typeof sandboxModes)[number]

export type SandboxStatus =
  | { readonly type: 'off' }
  /** No command has run yet. */
  | { readonly type: 'not-started'; readonly mode: SandboxMode }
  | { readonly type: 'on'; readonly mode: SandboxMode }
  | { readonly type: 'unavailable'; readonly mode: SandboxMode; readonly why: string }

/** One line for the person. */
export function sandboxLine(status: SandboxStatus): string {
  switch (status.type) {
    case 'off':
      return 'Sandbox: off. Rules alone decide about commands.'
    case 'not-started':
      return 'Sandbox: starts with the first command.'
    case 'on':
      return status.mode === 'ask'
        ? 'Sandbox: on. Commands ask, and run without your other files and without network.'
        : 'Sandbox: on. Commands run without a question, without your other files and without network.'
    case 'unavailable':
      return `Sandbox: not available (${status.why}). ${status.mode === 'required' ? 'No command runs.' : 'Rules alone decide about commands.'}`
  }
}

/** The message if it cannot start. */
export function unavailableNotice(why: string, mode: SandboxMode): string {
  const next = mode === 'required' ? 'No command runs without it.' : 'Commands ask as the rules say.'
  const help =
    process.platform === 'linux'
      ? ' It needs bubblewrap, socat and ripgrep, and a system that allows user namespaces.'
      : ''
  return `There is no sandbox for commands: ${why}. ${next}${help} "sandbox": "off" in the settings ends this message.`
}
