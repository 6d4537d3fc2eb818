import { execFileSync } from 'node:child_process'

/** A file system of its own, of 2 MiB. */
export interface SmallDisk {
  /** The mount, not the file system: the latter cannot be done in a user namespace. */
  remount(mode: 'ro' | 'rw'): void
  unmount(): void
}

/**
 * Mounts one on `folder`: as root, or by a sudo that asks for no password. `undefined` where this user may do neither.
 * Throws instead for root and in CI, where a test that skips itself would be an unseen failure.
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

/** What a user without either can run. A user namespace shows its mounts to its own processes only. */
export const NEEDED =
  'This test mounts a small tmpfs, so it needs root, a sudo without a password, or a user namespace: unshare -rm npx vitest run packages/sqlite/test/full-disk.test.ts'
