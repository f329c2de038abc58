// The order of the documentation: the side bar of the site, llms.txt, and the test that no page is forgotten.

export type Section = {
  readonly title: string
  /** Paths from the root of the checkout. */
  readonly pages: readonly string[]
  /** Closed until a reader opens it. */
  readonly isFolded?: boolean
}

const docs = (...names: readonly string[]) => names.map((name) => `docs/${name}.md`)

export const outline: readonly Section[] = [
  { title: 'Start', pages: docs('getting-started', 'demo', 'command-line', 'viewer', 'examples') },
  {
    title: 'Guides',
    pages: docs(
      'agent-forgets',
      'bill-too-high',
      'session-does-not-open',
      'continue-elsewhere',
      'for-a-team',
      'migrating',
      'common-problems',
      'comparison',
      'built-ins',
      'cost',
      'stores',
      'gateway',
      'gateway-operations',
      'gateway-scale',
      'stability',
    ),
  },
  {
    title: 'SDKs',
    pages: docs('anthropic-sdk', 'ai-sdk', 'langchain', 'openai', 'mastra', 'claude-agent-sdk', 'models'),
  },
  {
    title: 'Agents',
    pages: docs(
      'claude-code',
      'codex',
      'pi',
      'opencode',
      'agent',
      'agent-terminal',
      'agent-tools',
      'agent-security',
      'agent-compared',
    ),
  },
  {
    title: 'How it works',
    pages: docs(
      'engine',
      'tokens',
      'micro-compact',
      'compact',
      'summary',
      'session-memory',
      'collapse',
      'after-a-compaction',
      'recall',
      'ledger',
      'fold',
      'transcripts',
      'transcript-writing',
      'architecture',
    ),
  },
  { title: 'Testing', pages: docs('simulator', 'simulator-scripts', 'benchmarks') },
  { title: 'Reference', pages: docs('settings', 'api/README') },
]

/** Pages of a folder that follow the others in the order of their names. */
export const folders: readonly (Pick<Section, 'title'> & { readonly folder: string })[] = [
  { title: 'API', folder: 'docs/api' },
  { title: 'Measurements', folder: 'bench/results' },
  { title: 'Decisions', folder: 'docs/decisions' },
]
