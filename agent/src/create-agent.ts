// The agent: a session, its tools, its context and its turns behind the `Agent` of app.ts. The terminal, headless mode and
// other hosts use nothing else.
import type { EngineEvent, Environment, MessageInput } from 'everlong'
import { isObject, type JsonObject } from 'everlong/internal'
import { gitWorkspace, type Session } from 'everlong/node'
import type { Agent, AgentEvent, AgentState, CommandResult, PermissionMode, Person, Prompt } from './app.ts'
import { type Checkpoints, createCheckpoints } from './checkpoints/checkpoints.ts'
import { commandMessages } from './command-message.ts'
import type { CommandContext } from './commands/command.ts'
import { commandNamed, runCommand } from './commands/run.ts'
import { createEnvironmentNews, type EnvironmentNews } from './context/environment.ts'
import { createNestedMemory, type NestedMemory } from './context/nested-memory.ts'
import type { LoopEvent } from './events.ts'
import { personWithHooks, toolsWithHooks } from './hooks.ts'
import { interruptedText } from './interrupted.ts'
import { query } from './loop.ts'
import { chooseModel } from './models/choose.ts'
import type { ChosenModel, DemoModel } from './models/chosen.ts'
import { continuedModel, continuedNotices } from './models/continued.ts'
import { byName } from './own/markdown-file.ts'
import { commandOfSkill, type OwnCommand } from './own/own-commands.ts'
import { attachedFiles, attachment, contentOf } from './prompt-messages.ts'
import { receiptsIn } from './receipt.ts'
import { count, dollars } from './render/numbers.ts'
import { createSessionHost, type SessionChoice, type SessionHost } from './session-host.ts'
import { sessionsFolder } from './sessions/places.ts'
import { createNames, titleOf } from './sessions/sessions.ts'
import type { Settings } from './settings/settings.ts'
import { runShellLine, shellName } from './shell-line.ts'
import { type AnyTool, offerTools } from './tool.ts'
import type { ToolSet, ToolSetup } from './tool-set.ts'
import { type Turn, Turns } from './turns.ts'

export type AgentOptions = {
  /** The workspace. */
  readonly folder: string
  /** The folder of the person's sessions: see places.ts. */
  readonly home: string
  readonly settings: Settings
  readonly model: ChosenModel
  /** The command line names the model, so /resume does not change it. */
  readonly isModelFixed?: boolean
  /** For the model called `demo`. */
  readonly demo?: DemoModel
  readonly person: Person
  readonly createTools: (setup: ToolSetup) => Promise<ToolSet>
  /** Called on every use, so that a changed file takes effect. */
  readonly ownCommands?: () => readonly OwnCommand[]
  /** Saves the files before each prompt, so that /rewind can restore them. */
  readonly keepsFiles?: boolean
  readonly session?: SessionChoice
  readonly mode?: PermissionMode
  readonly env?: Environment
  readonly isHeadless?: boolean
  /** Maximum number of answers per turn. */
  readonly maxTurns?: number
  readonly now?: () => number
}

/** Throws an Error with the reason if the session cannot be opened. */
export async function createAgent(options: AgentOptions): Promise<Agent> {
  const agent = new RunningAgent(options)
  try {
    await agent.start()
    return agent
  } catch (error) {
    // Servers and processes of the tools must not outlive it.
    await agent.closeTools()
    throw error
  }
}

class RunningAgent implements Agent {
  private readonly options: AgentOptions
  private readonly env: Environment
  private readonly listeners = new Set<(event: AgentEvent) => void>()
  private readonly turns: Turns
  private readonly environment: EnvironmentNews
  private readonly nested: NestedMemory
  private readonly sessions: string
  private parts:
    | { readonly toolSet: ToolSet; readonly tools: readonly AnyTool[]; readonly host: SessionHost }
    | undefined
  private mode: PermissionMode
  private tasks: AgentState['tasks'] = []
  private readonly names = createNames()
  private checkpoints: Checkpoints | undefined
  /** Resolves when the files are saved. */
  private saving: Promise<void> | undefined
  private commandStop: AbortController | undefined
  /** Number of running commands. */
  private commands = 0

  constructor(options: AgentOptions) {
    const { settings, folder, home, env = process.env, now = Date.now } = options
    this.options = options
    this.env = env
    this.mode = options.mode ?? settings.permissions.mode ?? 'ask'
    this.environment = createEnvironmentNews({ workspace: gitWorkspace({ folder }), now })
    this.nested = createNestedMemory({ folder, ...settings.permissions })
    this.sessions = sessionsFolder(home, folder)
    this.turns = new Turns({
      run: (turn) => this.turn(turn),
      messagesFor: this.messagesFor,
      emit: withReceipts(this.emit),
      onChange: this.changed,
      onInterrupted: () => this.session().add({ role: 'user', origin: 'meta', content: interruptedText }),
    })
  }

  start = async (): Promise<void> => {
    const { folder, home, settings, isHeadless = false, session = { type: 'new' } } = this.options
    const { env, sessions } = this
    const person = personWithHooks(this.options.person, this.session)
    const toolSet = await this.options.createTools({
      person,
      mode: () => this.mode,
      setMode: this.setMode,
      onTasks: this.showTasks,
      sendNews: this.tell,
      notify: this.notify,
    })
    const tools = toolsWithHooks(toolSet.tools).map((tool) => this.afterSaving(tool))
    const host = createSessionHost(
      {
        ...{ folder, home, sessions, settings, env, isHeadless },
        hasRecall: tools.some(({ name }) => name.toLowerCase() === 'recall'),
        ...(toolSet.state ? { state: toolSet.state } : {}),
        ...(toolSet.redact ? { redact: toolSet.redact } : {}),
        mayCompact: () => mayCompact(person),
        onRetry: this.emit,
        notify: this.notify,
        onOpened: (opened) => {
          this.forget()
          this.checkpoints = this.checkpointsOf(opened)
          // Done now, so that the gauge includes the tools before the first prompt.
          offerTools(opened, tools)
          opened.cleanUp({ name: 'context', scope: 'conversation', clear: this.forget })
          opened.on('compaction-finished', this.tellIdleCompaction)
        },
      },
      this.options.model,
    )
    this.parts = { toolSet, tools, host }
    await host.open(session)
  }

  session = (): Session => this.open().host.session()

  state = (): AgentState => {
    const { id, path } = this.session()
    const title = path === undefined ? undefined : titleOf(path)
    const name = title ?? (path === undefined ? undefined : this.names(path))
    return {
      isBusy: this.turns.isBusy(),
      sessionId: id,
      ...(title === undefined ? {} : { title }),
      ...(name === undefined ? {} : { name }),
      mode: this.mode,
      model: this.open().host.model().words,
      queued: this.turns.queued(),
      tasks: this.tasks,
    }
  }

  on = (listener: (event: AgentEvent) => void): (() => void) => {
    this.listeners.add(listener)
    return () => void this.listeners.delete(listener)
  }

  submit = (prompt: Prompt): Promise<void> => this.turns.submit(prompt)

  interrupt = (): readonly Prompt[] => {
    this.commandStop?.abort()
    return this.turns.interrupt()
  }

  takeQueued = (): readonly Prompt[] => this.turns.takeQueued()

  setMode = (mode: PermissionMode): void => {
    this.mode = mode
    this.changed()
  }

  /** Commands take precedence over skills of the same name. */
  ownCommands = (): readonly OwnCommand[] =>
    byName([...(this.options.ownCommands?.() ?? []), ...(this.open().toolSet.skills ?? []).map(commandOfSkill)])

  moveToBackground = (): number => this.open().toolSet.tasks?.moveAll() ?? 0

  command = async (line: string, signal?: AbortSignal): Promise<CommandResult> => {
    const command = commandNamed(line)
    if (command?.needsQuiet && this.turns.isBusy()) {
      const text = `/${command.name} has to wait: a turn is running. Stop it first, or wait for its end.`
      return { type: 'error', text }
    }
    const stop = new AbortController()
    this.commandStop = stop
    this.commands++
    // While a turn runs, the loop passes the engine's events on.
    const stopListening = this.session().on((event) => {
      if (!this.turns.isBusy()) this.emit({ type: 'engine', event })
    })
    try {
      const both = signal ? AbortSignal.any([signal, stop.signal]) : stop.signal
      if (line.startsWith(shellName)) return await this.shell(line.slice(shellName.length).trim(), both)
      return await runCommand(line, this.commandContext(both))
    } finally {
      this.commands--
      stopListening()
    }
  }

  private async shell(command: string, signal: AbortSignal): Promise<CommandResult> {
    const { runForPerson: run } = this.open().toolSet
    const session = this.session()
    if (!run) return { type: 'error', text: 'There is no shell here.' }
    if (command === '') return { type: 'error', text: 'Say which command: !npm test' }
    const message = await runShellLine(command, { run, session, signal, emit: this.emit })
    // A session that was left meanwhile gets no more messages.
    if (session !== this.session()) return { type: 'text', text: '' }
    if (this.turns.isBusy()) void this.turns.tell(message)
    else session.add(message)
    return { type: 'text', text: '' }
  }

  close = async (): Promise<void> => {
    const { host } = this.open()
    this.commandStop?.abort()
    await this.turns.close()
    await this.closeTools()
    await host.close()
  }

  closeTools = async (): Promise<void> => this.parts?.toolSet.close()

  private checkpointsOf({ path }: Session): Checkpoints | undefined {
    const { folder, keepsFiles = false } = this.options
    const { notify } = this
    return keepsFiles && path !== undefined ? createCheckpoints({ folder, path, notify }) : undefined
  }

  /** A tool may change files, so it waits until they are saved. The request does not wait. */
  private afterSaving(tool: AnyTool): AnyTool {
    return {
      ...tool,
      call: async (input, context) => {
        await this.saving
        return tool.call(input, context)
      },
    }
  }

  private open() {
    if (!this.parts) throw new Error('The agent has not started yet.')
    return this.parts
  }

  private readonly emit = (event: AgentEvent): void => {
    for (const listener of this.listeners) listener(event)
  }

  private readonly notify = (text: string): void => this.emit({ type: 'notice', text })

  private readonly changed = (): void => this.emit({ type: 'state', state: this.state() })

  private readonly forget = (): void => {
    this.environment.forget()
    this.nested.forget()
  }

  /** Turns and commands report their own compactions. */
  private readonly tellIdleCompaction = (
    event: Extract<EngineEvent, { readonly type: 'compaction-finished' }>,
  ): void => {
    if (this.turns.isBusy() || this.commands > 0) return
    const { tokensBefore, tokensAfter, cost } = event
    const sizes = `${count(tokensBefore)} → ${count(tokensAfter)} tokens, ${dollars(cost)}`
    this.emit({ type: 'notice', text: `Compacted before the cache expired: ${sizes}. /undo takes it back.` })
    this.changed()
  }

  private readonly showTasks: ToolSetup['onTasks'] = (tasks) => {
    this.tasks = tasks
    this.changed()
  }

  private readonly tell: ToolSetup['sendNews'] = (content, session) => {
    const message: MessageInput = { role: 'user', origin: 'meta', content }
    // A sub-agent gets the message directly. A session that was left gets none.
    if (session.agentId !== undefined) session.add(message)
    else if (session === this.session()) void this.turns.tell(message)
  }

  /** The messages of a prompt, unless a UserPromptSubmit hook refuses it. */
  private readonly messagesFor = async (prompt: Prompt, signal: AbortSignal): Promise<readonly MessageInput[]> => {
    this.saving = this.checkpoints?.take()
    const outcome = await this.session().runHooks({ event: 'UserPromptSubmit', prompt: prompt.text }, { signal })
    for (const text of outcome.messages) this.notify(text)
    if (outcome.veto !== undefined) {
      this.emit({ type: 'notice', text: `A hook refused the prompt: ${outcome.veto}` })
      return []
    }
    const news = await this.environment.next()
    const context = outcome.context.map((content) => attachment('Context from a hook', content))
    const files = await this.filesIn(prompt, signal)
    const content = contentOf(prompt)
    const { command } = prompt
    const said = command === undefined ? [{ role: 'user' as const, content }] : commandMessages(command, content)
    return [...(news ? [news] : []), ...context, ...files, ...said]
  }

  private filesIn({ text, mentions = text }: Prompt, signal: AbortSignal): Promise<readonly MessageInput[]> {
    const emit = (event: LoopEvent) => {
      this.nested.onEvent(event)
      this.emit(event)
    }
    const { tools } = this.open()
    return attachedFiles(mentions, { folder: this.options.folder, session: this.session(), tools, signal, emit })
  }

  private async *turn({ signal, incoming }: Turn): AsyncGenerator<LoopEvent> {
    const { tools, host } = this.open()
    const { maxTurns } = this.options
    const session = this.session()
    host.rememberModel()
    const options = { session, tools, signal, ...(maxTurns === undefined ? {} : { maxTurns }) }
    const withInstructions = async () => [...this.nested.next(session.messages()), ...(await incoming())]
    for await (const event of query({ ...options, incoming: withInstructions })) {
      this.nested.onEvent(event)
      yield event
    }
  }

  private commandContext(signal: AbortSignal): CommandContext {
    const { settings, folder, home, demo, isModelFixed = false } = this.options
    const { env, sessions, changed, session, notify, emit } = this
    const { tools, host, toolSet } = this.open()
    const world = { env, folder, demo, retryMinutes: settings.retry?.minutes }
    return {
      ...{ signal, session, settings, folder, home, sessions, env, tools, changed, emit },
      toolSet,
      ...(this.checkpoints ? { checkpoints: this.checkpoints } : {}),
      ownCommands: this.ownCommands,
      mode: () => this.mode,
      setMode: this.setMode,
      name: () => this.state().name,
      model: host.model,
      spending: host.spending,
      sandbox: () => toolSet.sandbox?.() ?? { type: 'off' },
      rules: () => toolSet.rules?.() ?? settings.permissions,
      open: async (choice) => {
        const before = host.model().words
        const isContinued = choice.type === 'open' && !isModelFixed
        const last = isContinued ? await continuedModel(choice.path, world, before) : noModel
        await host.open(choice, last.type === 'model' ? last : undefined)
        for (const text of continuedNotices(last, before, before)) notify(text)
        changed()
      },
      changeModel: async (words) => {
        const chosen = await chooseModel(words, world)
        if (chosen.type !== 'model') return chosen
        const switched = await host.changeModel(chosen, signal)
        changed()
        return switched
      },
      tellReceipts: (records) => {
        for (const receipt of receiptsIn(records)) this.emit({ type: 'receipt', receipt })
      },
    }
  }
}

const noModel = { type: 'none' } as const

async function mayCompact(person: Person): Promise<boolean> {
  const request = { toolUseId: '', tool: 'Compact', title: 'Compact the conversation now' }
  const answer = await person.askPermission(request, new AbortController().signal)
  return answer.type !== 'deny'
}

/** Adds a receipt after the records of each compaction. */
function withReceipts(emit: (event: AgentEvent) => void): (event: AgentEvent) => void {
  let records: readonly JsonObject[] = []
  return (event) => {
    if (event.type !== 'record' && records.length > 0) {
      for (const receipt of receiptsIn(records)) emit({ type: 'receipt', receipt })
      records = []
    }
    emit(event)
    if (event.type === 'record' && isObject(event.record)) records = [...records, event.record]
  }
}
