// Folders and files with which a change makes something run later without a question.
import { relative, sep } from 'node:path'

const protectedFolders = new Set([
  ...['.git', '.everlong', '.claude', '.codex', '.opencode', '.pi', '.cursor', '.gemini', '.vscode', '.idea', '.husky'],
  ...['.devcontainer', '.githooks', '.bin'],
])
const protectedFiles =
  /^(?:\.npmrc|\.yarnrc(?:\.yml)?|\.pnpmfile\.c?js|\.envrc|\.mcp\.json|\.git(?:attributes|modules|config)|\.pre-commit-config\.yaml|lefthook\.ya?ml|\.bash(?:rc|_profile|_login|_logout|_aliases)|\.z(?:shrc|shenv|profile|login|logout)|\.profile|\.inputrc|\.vimrc|\.exrc|\.netrc|\.tool-versions|mise\.toml)$/

export function isProtectedName(name: string): boolean {
  const lower = name.toLowerCase()
  return protectedFolders.has(lower) || protectedFiles.test(lower)
}

/** Whether the file is protected, or is in a protected folder of the workspace. */
export function isProtected(path: string, root: string): boolean {
  const parts = relative(root, path).toLowerCase().split(sep)
  return parts.some((part) => protectedFolders.has(part)) || protectedFiles.test(parts.at(-1) ?? '')
}
