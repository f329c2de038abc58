// What well-known agents call their tools. To teach Everlong a new agent, add a row; inputs are read in call.ts.

/** What a tool is for. An editor does several things: its `command` says which. */
export type ToolJob =
  | 'read'
  | 'read-notebook'
  | 'view-image'
  | 'write'
  | 'edit'
  | 'edit-notebook'
  | 'editor'
  | 'patch'
  | 'shell'
  | 'grep'
  | 'glob'
  | 'outline'
  | 'web-fetch'
  | 'web-search'
  | 'todo'
  | 'enter-plan'
  | 'exit-plan'
  | 'question'
  | 'agent'
  | 'skill'

const agents: Readonly<Record<string, Readonly<Partial<Record<ToolJob, string>>>>> = {
  'Claude Code': {
    read: 'Read',
    'read-notebook': 'NotebookRead',
    write: 'Write',
    edit: 'Edit MultiEdit',
    'edit-notebook': 'NotebookEdit',
    shell: 'Bash PowerShell',
    grep: 'Grep',
    glob: 'Glob LS',
    'web-fetch': 'WebFetch',
    'web-search': 'WebSearch',
    todo: 'TodoWrite TaskCreate TaskUpdate TaskList',
    'enter-plan': 'EnterPlanMode',
    'exit-plan': 'ExitPlanMode',
    question: 'AskUserQuestion',
    agent: 'Task Agent',
    skill: 'Skill',
  },
  Codex: {
    'view-image': 'view_image',
    patch: 'apply_patch',
    shell: 'shell shell_command local_shell local_shell_call container.exec exec_command',
    'web-search': 'web_search',
    todo: 'update_plan',
    agent: 'spawn_agent',
  },
  pi: { read: 'read', write: 'write', edit: 'edit', shell: 'bash', grep: 'grep', glob: 'find ls' },
  opencode: {
    read: 'read',
    write: 'write',
    edit: 'edit',
    patch: 'patch apply_patch',
    shell: 'bash',
    grep: 'grep',
    glob: 'glob list',
    'web-fetch': 'webfetch',
    todo: 'todowrite',
    question: 'question',
    agent: 'task',
    skill: 'skill',
  },
  'Gemini CLI': {
    read: 'read_file read_many_files',
    write: 'write_file',
    edit: 'replace',
    shell: 'run_shell_command',
    grep: 'search_file_content grep_search',
    glob: 'glob list_directory',
    'web-fetch': 'web_fetch',
    'web-search': 'google_web_search',
    todo: 'write_todos',
    question: 'ask_user',
  },
  'Cline and Roo Code': {
    read: 'read_file',
    write: 'write_to_file',
    edit: 'replace_in_file apply_diff search_and_replace insert_content',
    shell: 'execute_command',
    grep: 'search_files',
    glob: 'list_files',
    outline: 'list_code_definition_names',
    todo: 'update_todo_list',
    question: 'ask_followup_question',
    agent: 'new_task',
  },
  Cursor: {
    read: 'read_file',
    edit: 'edit_file search_replace',
    shell: 'run_terminal_cmd',
    grep: 'grep_search codebase_search',
    glob: 'file_search list_dir',
    'web-search': 'web_search',
    todo: 'todo_write',
  },
  'OpenHands, SWE-agent, Anthropic’s own tools': {
    shell: 'execute_bash bash_20250124',
    editor: 'str_replace_editor str_replace_based_edit_tool editor',
  },
  'MCP file servers': {
    read: 'read_file read_text_file',
    write: 'write_file',
    edit: 'edit_file',
    grep: 'search_files',
    glob: 'list_directory',
  },
  others: {
    read: 'view view_file open_file fs_read cat',
    write: 'create_file fs_write',
    edit: 'fs_edit',
    shell: 'run_command',
    grep: 'ripgrep',
    glob: 'find_files',
    'web-fetch': 'fetch_url',
  },
}

/** `read_file`, `ReadFile` and `readFile` are one name, and so are `bash` and `bash_20250124`. */
function plain(name: string): string {
  return name.toLowerCase().replace(/[^a-z]/g, '')
}

const jobs: ReadonlyMap<string, ToolJob> = new Map(
  Object.values(agents).flatMap((tools) =>
    Object.entries(tools).flatMap(([job, names]) => names.split(' ').map((name) => [plain(name), job as ToolJob])),
  ),
)

/** An MCP server may name a tool as it likes, so its tools never speak for the user or the agent. */
const notForServers: ReadonlySet<ToolJob> = new Set(['todo', 'enter-plan', 'exit-plan', 'question', 'agent', 'skill'])

/** By the name alone. The prefix of an MCP server (`mcp__server__tool`) is ignored. */
export function toolJob(name: string): ToolJob | undefined {
  const job = jobs.get(plain(name.split('__').at(-1) ?? name))
  return job !== undefined && isFromServer(name) && notForServers.has(job) ? undefined : job
}

export function isFromServer(name: string): boolean {
  return name.includes('__')
}
