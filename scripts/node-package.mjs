// The npm packages that contain Node itself: a binary without an install script. Plain JavaScript for Node 18 and later.
import { join } from 'node:path'

export function nodePackage() {
  const platform = process.platform === 'win32' ? 'win' : process.platform
  const prefix = platform === 'darwin' && process.arch === 'arm64' ? 'node-bin' : 'node'
  return `${prefix}-${platform}-${process.arch}`
}

/** The path of the binary when the package is installed in this folder. */
export function nodeIn(folder) {
  return join(folder, 'node_modules', nodePackage(), 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
}
