/**
 * Whether submits would succeed: the disk of the data folder has room, and the store takes what is
 * written. Premise: a disk that is full refuses in the middle of anything, also what the service writes for itself, so
 * that submits are refused while there is still room for that.
 */
import { statfsSync } from 'node:fs'
import { apiError } from '../protocol/index.ts'
import type { Logger } from '../telemetry/index.ts'
import { type Database, writeSetting } from './store/index.ts'

/** Free space below which submits are refused: bytes, or a share of the disk from 0 to 100. */
export type DiskWatermark = { readonly bytes: number } | { readonly percent: number }

/** Why submits would not succeed. */
export type NotReady = 'disk-below-watermark' | 'data-folder-unreachable' | 'store-not-writable'

export interface Readiness {
  /** Throws the refusal of a submit for which there is no room. */
  checkSubmit(): void
  /** Why submits would not succeed now; nothing when they would. */
  reasons(): Promise<readonly NotReady[]>
}

/** 64 MiB: some times what all requests that are held at once may write. */
export const DISK_WATERMARK: DiskWatermark = { bytes: 67_108_864 }

/** How long a look at the disk counts; one takes microseconds. */
const LOOK_MS = 250

/** How long a round of writes counts as the proof that there can be another, and how long a probe may take. */
const ROUND_COUNTS_MS = 3_000
const PROBE_TAKES_MS = 2_000

const SETTING_OF_PROBE = 'readiness-probe'

/** Watches the disk and the store of one service. */
export function createReadiness({
  database,
  dataDir,
  watermark,
  logger,
  clock = () => performance.now(),
}: {
  readonly database: Pick<Database, 'write' | 'lastRound'>
  readonly dataDir: string
  readonly watermark: DiskWatermark
  readonly logger: Logger
  readonly clock?: () => number
}): Readiness {
  let lookedAt = -Infinity
  let disk: NotReady | undefined
  let probing: Promise<boolean> | undefined

  function look(): NotReady | undefined {
    const now = clock()
    if (now - lookedAt < LOOK_MS) return disk
    lookedAt = now
    const before = disk
    disk = lookAt(dataDir, watermark)
    if (disk === before) return disk
    if (disk) logger.error('submits are refused until the disk has room', { reason: disk, dataDir, watermark })
    else logger.info('submits are taken again: the disk has room', { dataDir, watermark })
    return disk
  }

  async function probe(): Promise<boolean> {
    const late = Promise.withResolvers<boolean>()
    const timer = setTimeout(() => late.resolve(false), PROBE_TAKES_MS)
    const written = database.write((tx) => writeSetting(tx, SETTING_OF_PROBE, new Date().toISOString()))
    const isWritten = written.then(
      () => true,
      () => false,
    )
    try {
      return await Promise.race([isWritten, late.promise])
    } finally {
      clearTimeout(timer)
      probing = undefined
    }
  }

  /** Asked as often as anybody likes, at the cost of one commit in a while. */
  async function isWritable(): Promise<boolean> {
    const last = database.lastRound()
    if (last && performance.now() - last.at < ROUND_COUNTS_MS) return !last.failed
    probing ??= probe()
    return probing
  }

  return {
    checkSubmit() {
      if (look()) throw apiError('unavailable')
    },
    async reasons() {
      const ofDisk = look()
      return [...(ofDisk ? [ofDisk] : []), ...((await isWritable()) ? [] : (['store-not-writable'] as const))]
    },
  }
}

function lookAt(dataDir: string, watermark: DiskWatermark): NotReady | undefined {
  try {
    const { bavail, blocks, bsize } = statfsSync(dataDir)
    // A file system that does not tell its size says nothing of its room.
    if (blocks === 0) return undefined
    const isLow = 'bytes' in watermark ? bavail * bsize < watermark.bytes : bavail < (blocks * watermark.percent) / 100
    return isLow ? 'disk-below-watermark' : undefined
  } catch {
    return 'data-folder-unreachable'
  }
}
