import { execFileSync } from 'node:child_process'

/** A separate file system of 2 MiB. */
export interface SmallDisk {
  /** Remounts the mount, not the file system, which is not possible in a user namespace. */
  remount(mode: 'ro' | 'rw'): void
  unmount(): void
}

/**
 * Mounts a small disk on `folder`: as root, or with a sudo without a password. Returns `undefined` if this user can do
 * neither. Throws instead for root and in CI, where a test that skips itself would hide a failure.
 */
export function mountSmallDisk(folder: string): SmallDisk | undefined {
  const isRoot = process.getuid?.() === 0
  const run = (program: 'mount' | 'umount', ...args: string[]) =>
    isRoot
      ? execFileSync(program, args, { stdio: 'pipe' })
      : execFileSync('sudo', ['-n', program, ...args], { stdio: 'pipe' })
  try {
    run('mount', '-t', 'tmpfs', '-o', 'size=2m,mode=1777', 'tmpfs', folder)
  } catch (cause) {
    if (isRoot || process.env['CI']) throw new Error(`No tmpfs on ${folder}. ${NEEDED}`, { cause })
    return undefined
  }
  return {
    remount: mode => void run('mount', '-o', `remount,bind,${mode}`, folder),
    unmount: () => void run('umount', '-l', folder),
  }
}

/** Instructions for a user without either. A user namespace shows its mounts only to its own processes. */
export const NEEDED =
  'This test mounts a small tmpfs, so it needs root, a sudo without a password, or a user namespace: unshare -rm npx vitest run packages/sqlite/test/full-disk.test.ts'
