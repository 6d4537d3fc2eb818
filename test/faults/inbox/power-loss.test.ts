import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cutPower } from './power/cut-power.ts'
import { recordReceivers } from './power/record-receivers.ts'
import { type Call, createRecorder, type Recorder } from './power/recorder.ts'
import { scaled } from './workspace.ts'

const NEEDED =
  "This test records a process's writes and syncs with a library that the Linux loader puts before the C library."
const canWatch = process.platform === 'linux'
if (!canWatch) process.stderr.write(`Skipped: ${NEEDED}\n`)

describe.skipIf(!canWatch)('power lost at any moment', { timeout: 1_800_000 }, () => {
  let root: string
  let folder: string
  let recorder: Recorder
  let acked: ReadonlySet<string>

  const folderFor = (name: string): string => {
    const made = join(root, name)
    mkdirSync(made)
    return made
  }

  beforeAll(async () => {
    root = realpathSync(mkdtempSync(join(tmpdir(), 'ackhook-power-')))
    folder = folderFor('receivers')
    recorder = createRecorder(folder, folderFor('recorder'))
    acked = await recordReceivers(recorder, folder, scaled(1500, 200))
  }, 900_000)

  afterAll(() => rmSync(root, { recursive: true, force: true }))

  it('leaves all events that sqliteInbox acknowledged on disk, in an intact file, and repeats no recorded ones', async () => {
    const cuts = { first: scaled(100, 9), others: scaled(4000, 40), starts: scaled(60, 1) }
    const found = await cutPower(recorder, { folder, beside: folderFor('cuts') }, cuts)
    const { promised, syncs, checkpoints, starts, missing, wrong } = found
    console.info(
      `power loss: ${promised} acknowledged, ${found.cuts} cuts at ${syncs} syncs (${checkpoints} of checkpoints), ${starts} starts, ${missing} missing`,
    )
    expect(wrong).toEqual([])
    expect(missing).toBe(0)
    expect(promised).toBe(acked.size)
    expect(checkpoints).toBeGreaterThan(3)
  })

  it.each([
    ['the log', 'inbox.db-wal'],
    ['the folder', '.'],
  ])('would lose events if %s were not synced: this harness can fail', async (_, unsynced) => {
    const cuts = { first: 0, others: 10, starts: 0, without: ({ name }: Call) => name === unsynced }
    const found = await cutPower(recorder, { folder, beside: folderFor(`without-${unsynced}`) }, cuts)
    expect(found.missing).toBeGreaterThan(0)
  })
})
