// The one place that knows how well-known agents spell their tools and the inputs of them. What a job means for clearing
// or for the ledger is decided there.
import { stringAt } from './json.ts'

/** What a tool is for. An editor has several jobs: its `command` says which. */
export type ToolJob =
  | 'read'
  | 'read-notebook'
  | 'view-image'
  | 'shell'
  | 'grep'
  | 'glob'
  | 'outline'
  | 'web-fetch'
  | 'web-search'
  | 'edit'
  | 'edit-notebook'
  | 'patch'
  | 'editor'
  | 'write'
  | 'todo'
  | 'agent'
  | 'ask'

/** Without capitals, digits and separators: Claude Code, pi, Codex, opencode, Gemini, Cline, Roo, Cursor, OpenHands. */
const spellings: Readonly<Record<ToolJob, string>> = {
  read: 'read readfile readtextfile readmanyfiles view viewfile openfile fsread cat',
  'read-notebook': 'notebookread',
  'view-image': 'viewimage',
  shell:
    'bash shell shellcommand localshell localshellcall containerexec execcommand executebash executecommand runcommand runshellcommand runterminalcmd powershell',
  grep: 'grep grepsearch ripgrep searchfiles searchfilecontent codebasesearch',
  glob: 'glob find findfiles filesearch ls list listdir listdirectory listfiles',
  outline: 'listcodedefinitionnames',
  'web-fetch': 'webfetch fetchurl',
  'web-search': 'websearch googlewebsearch',
  edit: 'edit editfile multiedit replace replaceinfile searchreplace searchandreplace insertcontent applydiff fsedit',
  'edit-notebook': 'notebookedit',
  patch: 'applypatch patch',
  editor: 'strreplacebasededittool strreplaceeditor editor',
  write: 'write writefile writetofile createfile fswrite',
  todo: 'todowrite taskcreate taskupdate tasklist updateplan writetodos updatetodolist',
  agent: 'task agent spawnagent',
  ask: 'askuserquestion askfollowupquestion',
}

const jobs: ReadonlyMap<string, ToolJob> = new Map(
  Object.entries(spellings).flatMap(([job, names]) => names.split(' ').map((name) => [name, job as ToolJob] as const)),
)

/** `read_file`, `ReadFile` and `readFile` are one spelling. */
export function toolJob(name: string): ToolJob | undefined {
  return jobs.get(name.toLowerCase().replace(/[^a-z]/g, ''))
}

const pathKeys = [
  'file_path',
  'path',
  'filename',
  'filePath',
  'file',
  'target_file',
  'absolute_path',
  'relative_path',
  'notebook_path',
]

/** The file or folder that a tool request names, as it is spelled there. */
export function pathIn(input: unknown): string | undefined {
  for (const key of pathKeys) {
    const found = stringAt(input, key)
    if (found !== undefined && found !== '') return found
  }
  return undefined
}
