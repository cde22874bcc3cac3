/**
 * Planning an organization that has not changed: CPU time, memory and requests by size. Definitions, lock and the API's
 * answers are real text; the network is left out. Then the same with one change. The last row has 1,000 sub-organizations of
 * one template, each read and planned by itself. The planner runs bundled, as it is shipped, and with what it has compiled kept
 * between runs, as the commands keep it. Beside it what others take.
 */
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { bundle } from '../../src/build/bundle.ts'
import { makeFleet } from './plan-fleet.ts'
import { type Made, makeOrganization } from './plan-made.ts'
import { benchOctodns, benchOpenTofu } from './plan-others.ts'

const SIZES = [100, 1_000, 5_000, 10_000]
const SUB_ORGANIZATIONS = 1_000
const AIM = { size: 5_000, cpuSeconds: 0.67, megabytes: 180, oneChange: 1.2 }
const ROOT = join(import.meta.dirname, '../..')

/** Prints two lines a size; the process exits with 1 when an aim is missed. */
export async function run(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'quorate-bench-'))
  try {
    copyFileSync(join(ROOT, 'package.json'), join(folder, 'package.json'))
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
    await bundle(['test/bench/plan-child.ts'], join(folder, 'dist'))
    console.log('resources   CPU s   MB   requests   (load · lock · read · plan · inside CPU s)')
    for (const size of SIZES) measure(String(size), makeOrganization(size), folder)
    measure('fleet', makeFleet(SUB_ORGANIZATIONS), folder)
    benchOctodns(SIZES, folder)
    benchOpenTofu(SIZES, folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

interface Figures {
  readonly cpuSeconds: number
  readonly megabytes: number
  readonly requests: number
  readonly resources: number
  readonly changes: number
  readonly steps: Readonly<Record<string, number>>
}

function measure(name: string, { files, changed, api }: Made, parent: string): void {
  const folder = join(parent, name)
  write(files, folder)
  const answers = join(parent, `${name}.json`)
  writeFileSync(answers, JSON.stringify(api))
  const { cpuSeconds, megabytes, requests, resources, changes, steps } = plan(folder, { answers, parent })
  if (changes > 0) throw new Error(`expected no change, got ${changes}`)
  const parts = Object.values(steps).map((seconds) => seconds.toFixed(2))
  const isAim = name === String(AIM.size)
  const missed = isAim && (cpuSeconds > AIM.cpuSeconds || megabytes > AIM.megabytes)
  const verdict = isAim ? `   ${missed ? 'MISSED' : 'met'}: aim ${AIM.cpuSeconds} CPU s, ${AIM.megabytes} MB` : ''
  const what = name === 'fleet' ? `   ${SUB_ORGANIZATIONS} sub-organizations` : ''
  console.log(
    `${String(resources).padStart(9)}  ${cpuSeconds.toFixed(2).padStart(6)} ${megabytes.toFixed(0).padStart(4)} ${String(requests).padStart(10)}   (${parts.join(' · ')})${verdict}${what}`,
  )
  if (missed) process.exitCode = 1
  write(changed, folder)
  const after = plan(folder, { answers, parent })
  if (after.changes !== 1) throw new Error(`expected 1 change, got ${after.changes}`)
  const times = after.cpuSeconds / cpuSeconds
  const tooMuch = isAim && times > AIM.oneChange
  const ratio = isAim ? `   ${times.toFixed(2)} × no change, ${tooMuch ? 'MISSED' : 'met'}: aim ${AIM.oneChange}` : ''
  if (tooMuch) process.exitCode = 1
  console.log(
    `${'one change'.padStart(9)} ${after.cpuSeconds.toFixed(2).padStart(6)} ${after.megabytes.toFixed(0).padStart(4)}${ratio}`,
  )
}

function write(files: Made['files'], folder: string): void {
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
}

function plan(folder: string, { answers, parent }: { readonly answers: string; readonly parent: string }): Figures {
  const child = spawnSync(process.execPath, [join(parent, 'dist/plan-child.js'), folder, answers], {
    env: { ...process.env, NODE_COMPILE_CACHE: join(parent, 'compiled') },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (child.status !== 0) throw new Error(`planning ${folder} failed`)
  return JSON.parse(child.stdout) as Figures
}
