// What well-known agents call their tools. Add a new agent's names to the rows; how inputs look is in call.ts.

/** Case, digits and separators do not matter. An editor does several jobs: its `command` says which. */
const names = {
  read: 'Read read_file read_many_files read_text_file view view_file open_file fs_read cat',
  'read-notebook': 'NotebookRead',
  'view-image': 'view_image',
  write: 'Write write_file write_to_file create_file fs_write',
  edit: 'Edit MultiEdit edit_file replace replace_in_file search_replace search_and_replace insert_content apply_diff fs_edit',
  'edit-notebook': 'NotebookEdit',
  editor: 'str_replace_based_edit_tool str_replace_editor editor',
  patch: 'apply_patch patch',
  shell:
    'Bash PowerShell shell shell_command local_shell local_shell_call container.exec exec_command execute_bash execute_command run_command run_shell_command run_terminal_cmd',
  grep: 'Grep grep_search ripgrep search_files search_file_content codebase_search',
  glob: 'Glob LS list list_dir list_directory list_files find find_files file_search',
  outline: 'list_code_definition_names',
  'web-fetch': 'WebFetch fetch_url',
  'web-search': 'WebSearch google_web_search',
  todo: 'TodoWrite TaskCreate TaskUpdate TaskList update_plan write_todos update_todo_list',
  'enter-plan': 'EnterPlanMode',
  'exit-plan': 'ExitPlanMode',
  question: 'AskUserQuestion ask_followup_question ask_user question',
  agent: 'Task Agent spawn_agent new_task',
  skill: 'Skill',
} as const

export type ToolJob = keyof typeof names

/** `read_file`, `ReadFile` and `readFile` are one name, and so are `bash` and `bash_20250124`. */
function plain(name: string): string {
  return name.toLowerCase().replace(/[^a-z]/g, '')
}

/** As written, which is the fast way, and plain. */
const jobs: ReadonlyMap<string, ToolJob> = new Map(
  Object.entries(names).flatMap(([job, row]) =>
    row.split(' ').flatMap((name) => [name, plain(name)].map((key) => [key, job as ToolJob] as const)),
  ),
)

/** An MCP server may name a tool as it likes, so its tools never speak for the user or the agent. */
const notForServers: ReadonlySet<ToolJob> = new Set(['todo', 'enter-plan', 'exit-plan', 'question', 'agent', 'skill'])

/** By the name alone. The prefix of an MCP server (`mcp__server__tool`) is ignored. */
export function toolJob(name: string): ToolJob | undefined {
  const job = jobs.get(name) ?? jobs.get(plain(name.split('__').at(-1) ?? name))
  return job !== undefined && isFromServer(name) && notForServers.has(job) ? undefined : job
}

export function isFromServer(name: string): boolean {
  return name.includes('__')
}
