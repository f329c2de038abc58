// Folders of the machine that a sandboxed command may read and write, before rules: the workspace, its repository, temporary
// files, the system's programs, and tools that the person has installed.
import { existsSync, readdirSync, realpathSync, type Stats, statSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { delimiter, dirname, isAbsolute, join } from 'node:path'
import { isWithin } from '../files/paths.ts'
import { disk } from '../permissions/disk.ts'
import { ownLinkedStores } from '../permissions/repositories.ts'

export type Folders = {
  /** The workspace's folder and those that were added to it. */
  readonly roots: readonly string[]
  /** Nothing in them is visible except `readable` folders. */
  readonly closed: readonly string[]
  readonly readable: readonly string[]
  readonly writable: readonly string[]
  /** Files and folders that stay closed inside readable ones. */
  readonly secret: readonly string[]
  /** Files and folders that cannot be changed inside writable ones. */
  readonly fixed: readonly string[]
  /** Git folders of the repositories around the roots. */
  readonly stores: readonly string[]
}

export type FolderOptions = {
  /** The workspace's folder with all links resolved. */
  readonly root: string
  /** Folders that were added to the workspace, with all links resolved. */
  readonly added?: readonly string[]
  /** The folder of the agent's settings and sessions. */
  readonly agentHome: string
  /** The `PATH` of commands. */
  readonly path?: string | undefined
  readonly userHome?: string
}

export function foldersFor(options: FolderOptions): Folders {
  const { root, added = [], agentHome, path = '', userHome = homedir() } = options
  const roots = [root, ...added]
  const repositories = roots.map((each) => repositoryOf(each, userHome))
  const stores = [...new Set(repositories.flatMap((each) => each.stores))]
  const around = [...new Set(repositories.flatMap((each) => each.readable))]
  const temporary = [...new Set([tmpdir(), '/tmp'].filter(existsSync).map((folder) => realpathSync(folder)))]
  const inHome = (names: readonly string[]) => names.map((name) => join(userHome, name))
  const present = (paths: readonly string[]) => [...new Set(paths.filter(existsSync))]
  return {
    roots,
    closed: closedFolders(),
    readable: present([
      ...[...roots, ...around.flatMap((each) => outside([...roots, ...stores], each))],
      ...[...temporary, ...systemExceptions, ...inHome(toolsInHome), ...programFolders(path, userHome)],
    ]),
    writable: present([...roots, ...stores, ...temporary]),
    secret: present([...systemSecrets(), ...inHome(secretsInHome), agentHome]),
    fixed: [...new Set(stores.flatMap(withInner).flatMap(fixedInStore))],
    stores,
  }
}

/** Top-level folders with the system's own programs and settings. All others are closed. */
const systemFolders = new Set(
  'bin sbin lib lib32 lib64 libx32 usr etc opt nix snap gnu dev proc sys System Library Applications'.split(' '),
)

function closedFolders(): readonly string[] {
  if (process.platform === 'darwin') return ['/Users', '/Volumes', '/private/var/root', '/private/var/log']
  const entries = readdirSync('/', { withFileTypes: true }).filter((entry) => entry.isDirectory())
  return entries
    .map(({ name }) => name)
    .filter((name) => !systemFolders.has(name))
    .map((name) => `/${name}`)
}

const systemExceptions = ['/run/current-system', '/run/systemd/resolve', '/var/lib/texmf', '/var/lib/dpkg']

/** Only root can read these. A command of root must not read them either. */
function systemSecrets(): readonly string[] {
  const keys = '/etc/ssh'
  const hostKeys = existsSync(keys) ? readdirSync(keys).filter((name) => /^ssh_host_.*_key$/.test(name)) : []
  return [
    ...['shadow', 'shadow-', 'gshadow', 'gshadow-', 'sudoers', 'sudoers.d', 'security/opasswd', 'krb5.keytab'],
    ...['ssl/private', 'wireguard', 'NetworkManager/system-connections'],
    ...hostKeys.map((name) => `ssh/${name}`),
  ].map((name) => `/etc/${name}`)
}

/** Parts of a home folder that programs need, without credentials. */
const toolsInHome = [
  ...['.gitconfig', '.config/git/config', '.config/git/ignore', '.config/git/attributes'],
  ...['.nvm', '.volta', '.fnm', '.asdf', '.pyenv', '.rbenv', '.sdkman', '.bun', '.deno', '.rustup', 'go', '.gem'],
  ...['bin', 'registry', 'git', 'env', 'config.toml'].map((name) => `.cargo/${name}`),
  ...['bin', 'lib', 'share/fnm', 'share/mise', 'share/pnpm', 'share/uv', 'share/pipx'].map((name) => `.local/${name}`),
  ...['.m2/repository', '.gradle/wrapper', '.gradle/caches', '.nuget/packages', '.cache/ms-playwright'],
]

/** Closed even if the home folder is the workspace. */
const secretsInHome = [
  ...['.ssh', '.gnupg', '.aws', '.azure', '.kube', '.password-store', '.docker/config.json', '.config/gcloud'],
  ...['.config/gh', '.config/git/credentials', '.git-credentials', '.netrc', '.npmrc', '.pypirc', '.pgpass', '.my.cnf'],
  ...['.cargo/credentials', '.cargo/credentials.toml', '.m2/settings.xml', '.gradle/gradle.properties'],
  ...['.gem/credentials', '.local/share/keyrings', '.mozilla', '.config/google-chrome', '.config/chromium'],
  ...['.bash_history', '.zsh_history', '.claude', '.codex', '.gemini', '.everlong', 'Library/Keychains'],
]

/** The installations of the programs on the `PATH`: for `…/node-24/bin` it is `…/node-24`. */
function programFolders(path: string, userHome: string): readonly string[] {
  const folders = [...path.split(delimiter), dirname(process.execPath)].filter(
    (each) => isAbsolute(each) && existsSync(each),
  )
  return [...new Set(folders.map((folder) => realpathSync(folder)))].flatMap((folder) => {
    const installation = /\/s?bin$/.test(folder) ? dirname(folder) : folder
    // They also contain credentials. The list above has the parts that programs need.
    const isShared = ['.local', '.cargo'].some((name) => installation === join(userHome, name))
    const isTooMuch = isShared || isWithin(installation, userHome)
    return isTooMuch ? [folder] : [installation]
  })
}

type Repository = Pick<Folders, 'readable' | 'stores'>

const noRepository: Repository = { readable: [], stores: [] }

/**
 * The repository around the workspace: git reads all of its work tree. A repository that is the whole home folder does not count.
 */
function repositoryOf(root: string, userHome: string): Repository {
  for (let folder = root; ; folder = dirname(folder)) {
    const dotGit = join(folder, '.git')
    // One check, because a sandbox that ends removes its placeholder for .git.
    const found = statSync(dotGit, { throwIfNoEntry: false })
    if (found && !isPlaceholder(dotGit, found)) {
      if (isWithin(folder, userHome)) return noRepository
      const stores = found.isDirectory() ? [dotGit] : ownLinkedStores(folder, disk)
      return { readable: folder === root ? [] : [folder], stores }
    }
    if (folder === dirname(folder)) return noRepository
  }
}

/** A placeholder of the sandbox, where nothing may be created, is empty until its command has ended. */
function isPlaceholder(path: string, found: Stats): boolean {
  if (!found.isDirectory()) return found.size === 0
  try {
    return readdirSync(path).length === 0
  } catch (error) {
    // Another sandbox has ended since then and removed it.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return true
    throw error
  }
}

/** The parts of `path` that are in no writable folder, because a readable folder around a writable one would make it read-only. */
function outside(writable: readonly string[], path: string): readonly string[] {
  if (writable.some((each) => isWithin(each, path))) return []
  if (!writable.some((each) => isWithin(path, each))) return [path]
  return readdirSync(path).flatMap((name) => outside(writable, join(path, name)))
}

/**
 * Hooks and settings of a repository run programs. Missing ones cannot be created. `commondir` says where they are. Only the store of a
 * worktree has one, and git does not work with a placeholder for it.
 */
export function fixedInStore(store: string): readonly string[] {
  const places = ['commondir', 'gitdir'].map((name) => join(store, name)).filter(existsSync)
  return [...['hooks', 'config', 'config.worktree'].map((name) => join(store, name)), ...places]
}

/** A store, and those of its submodules and worktrees, which have their own settings. A module's name may contain slashes. */
export function withInner(store: string): readonly string[] {
  const inner = (folder: string, depth: number): readonly string[] => {
    if (depth === maxModuleDepth || !existsSync(folder)) return []
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => join(folder, name))
      .flatMap((path) => (existsSync(join(path, 'HEAD')) ? withInner(path) : inner(path, depth + 1)))
  }
  return [store, ...['modules', 'worktrees'].flatMap((name) => inner(join(store, name), 0))]
}

/** Maximum number of parts in a module's name. */
const maxModuleDepth = 8
