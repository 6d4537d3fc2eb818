import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { sqliteInbox } from '@ackhook/sqlite'
import { expect, it } from 'vitest'
import { startInbox, withFolder } from './start-inbox.ts'

const child = fileURLToPath(new URL('close-locked-child.mjs', import.meta.url))
const exiting = fileURLToPath(new URL('exit-in-call-child.mjs', import.meta.url))

it('closes while another process locks the file, and the process ends by itself', () =>
  withFolder(async folder => {
    // Rejects if the process ends with another code than 0, or with a signal.
    const { stdout } = await promisify(execFile)(process.execPath, [child, join(folder, 'inbox.db')])
    expect(stdout.trim().split('\n')).toEqual(['{"lost":0}', 'the rest of the shutdown'])
  }))

it('lets the process end with its own code while the thread is in a driver call', () =>
  withFolder(async folder => {
    const ended = promisify(execFile)(process.execPath, [exiting, join(folder, 'inbox.db')])
    await expect(ended).rejects.toMatchObject({ code: 7, signal: null })
  }))

it('does not start again once closed or while closing', () =>
  withFolder(async folder => {
    const path = join(folder, 'inbox.db')
    const closed = sqliteInbox(path)
    await closed.close(0)
    await expect(startInbox(closed)).rejects.toThrow(/inbox is closed/)
    await expect(closed.stats()).rejects.toThrow(/is closed/)
    expect(existsSync(path)).toBe(false)

    const closing = sqliteInbox(path)
    const starting = startInbox(closing)
    const [start] = await Promise.allSettled([starting, closing.close(1000)])
    expect(start).toMatchObject({ status: 'rejected', reason: { code: 'inbox_unavailable' } })
  }))
