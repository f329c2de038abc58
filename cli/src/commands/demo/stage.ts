// The environment of the demonstration: the simulated API on a local port, a made-up repository with working tools, and an engine
// with a session on disk.
import type { AnyTool } from '@everlong/agent'
import { type Repository, type RunningServer, startServer, syntheticRepository, toolsOf } from '@everlong/simulator'
import type { EngineSettings, FileStore } from 'everlong'
import { anthropic } from 'everlong/anthropic'
import { type Match, parseSearch } from 'everlong/internal/node'
import { createEngine, type EngineOptions, openArchive, type Session } from 'everlong/node'
import { demoModel } from './model.ts'
import { recallTool, repositoryTools } from './tools.ts'

export type Stage = {
  readonly server: RunningServer
  readonly session: Session
  readonly tools: readonly AnyTool[]
  readonly transcript: string
  readonly repository: Repository
  /** A question about an early event, for after it has left the context. */
  readonly question: string
  /** A long text for the person to paste. */
  readonly log: string
  /** Runs the recall tool. */
  readonly search: (input: unknown) => readonly Match[]
  readonly close: () => Promise<void>
}

export const window = 48_000
const model = 'claude-sonnet-4-6'
const maxTokens = 4_000
const pastedLines = 320

/** Scaled to the window. Our edits do what the server could do, so that the transcript shows it. */
export const settings: EngineSettings = {
  contextWindow: window,
  maxOutputTokens: maxTokens,
  autoCompactAt: 31_000,
  warningDistance: 14_000,
  errorDistance: 4_000,
  sessionMemory: { growth: 6_000, keep: { minTokens: 3_000, minMessages: 1 } },
  recall: true,
  reductions: {
    bySize: { keep: 3, target: 1_000, minFreed: 3_000 },
    // In such a small window a compaction is always near and always cheaper, so clearing would wait for it.
    weigh: false,
    byCacheEdit: { trigger: 1_000 },
    // A test run takes long, so its output stays until a compaction.
    toolKinds: { Bash: null },
  },
}

export type StageOptions = {
  /** Whether answers take a moment, as in reality. */
  readonly isSlow: boolean
  readonly ports: NonNullable<EngineOptions['ports']>
  /** A path in an existing folder, for a new file. */
  readonly transcript: string
}

const slowly = { first: 200, perEvent: 12 }

export async function setStage({ isSlow, ports, transcript }: StageOptions): Promise<Stage> {
  const repository = syntheticRepository({ seed: 7, files: 60 })
  const server = await startServer({
    script: demoModel(repository),
    windows: { [model]: window },
    ...(isSlow ? { latency: slowly } : {}),
  })
  try {
    return await stageOn(server, repository, { ports, transcript })
  } catch (error) {
    await server.close()
    throw error
  }
}

async function stageOn(
  server: RunningServer,
  repository: Repository,
  { ports, transcript }: Pick<StageOptions, 'ports'> & { readonly transcript: string },
): Promise<Stage> {
  const working = toolsOf(repository)
  const engine = createEngine({
    model: anthropic({ model, apiKey: 'none', baseURL: server.url }),
    environment: {},
    files: filesOf(working.files, repository.root),
    settings,
    ports,
  })
  const session = await engine.start({
    path: transcript,
    maxTokens,
    system: 'You mend a repository. Work in small steps.',
    envelope: { cwd: repository.root, gitBranch: repository.branch },
  })
  // Small and only for this session, so it is kept in memory.
  const archive = openArchive(transcript, { folder: false })
  return {
    server,
    session,
    tools: [...repositoryTools(working), recallTool(archive)],
    transcript,
    repository,
    question: `What did the very first test run say about "${repository.bugs[0]?.symbol}"?`,
    log: (repository.files.get('logs/build.log') ?? '').split('\n').slice(0, pastedLines).join('\n'),
    search: (input) => {
      const request = parseSearch(input)
      return request.type === 'refused' ? [] : archive.search(request.query).matches
    },
    close: async () => {
      await session.close()
      archive.close()
      await server.close()
    },
  }
}

/** The repository is in memory, so a compaction restores the current files from there. */
function filesOf(files: ReadonlyMap<string, string>, root: string): FileStore {
  return {
    read: async (path) => {
      const text = files.get(path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path)
      return text === undefined ? { type: 'missing' } : { type: 'text', text }
    },
  }
}
