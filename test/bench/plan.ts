/**
 * Planning an organization that has not changed: CPU time, memory and requests by size. Definitions, lock and the API's
 * answers are real text; the network is left out. Then the same with one change. Beside it what others take.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeOrganization } from './plan-made.ts'
import { benchOctodns, benchOpenTofu } from './plan-others.ts'

const SIZES = [100, 1_000, 5_000, 10_000]
const AIM = { size: 5_000, cpuSeconds: 1.3, megabytes: 250 }

/** Prints a line a size; the process exits with 1 when the aim is missed. */
export async function run(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'quorate-bench-'))
  try {
    console.log('resources   CPU s   MB   requests   (load · lock · read · plan CPU s)')
    for (const size of SIZES) measure(size, folder)
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

function measure(size: number, parent: string): void {
  const folder = join(parent, String(size))
  mkdirSync(folder)
  const { files, api } = makeOrganization(size)
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  const answers = join(parent, `${size}.json`)
  writeFileSync(answers, JSON.stringify(api))
  const { cpuSeconds, megabytes, requests, resources, changes, steps } = plan(folder, answers)
  if (changes > 0) throw new Error(`expected no change, got ${changes}`)
  const parts = Object.values(steps).map((seconds) => seconds.toFixed(2))
  const missed = size === AIM.size && (cpuSeconds > AIM.cpuSeconds || megabytes > AIM.megabytes)
  const verdict =
    size !== AIM.size ? '' : `   ${missed ? 'MISSED' : 'met'}: aim ${AIM.cpuSeconds} CPU s, ${AIM.megabytes} MB`
  console.log(
    `${String(resources).padStart(9)}  ${cpuSeconds.toFixed(2).padStart(6)} ${megabytes.toFixed(0).padStart(4)} ${String(requests).padStart(10)}   (${parts.join(' · ')})${verdict}`,
  )
  if (missed) process.exitCode = 1
  writeFileSync(join(folder, 'people.yaml'), files['people.yaml']!.replace('p0b@acme.test', 'other@acme.test'))
  const changed = plan(folder, answers)
  if (changed.changes !== 1) throw new Error(`expected 1 change, got ${changed.changes}`)
  console.log(
    `${'one change'.padStart(9)} ${changed.cpuSeconds.toFixed(2).padStart(6)} ${changed.megabytes.toFixed(0).padStart(4)}`,
  )
}

function plan(folder: string, answers: string): Figures {
  const child = spawnSync(process.execPath, [join(import.meta.dirname, 'plan-child.ts'), folder, answers], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (child.status !== 0) throw new Error(`planning ${folder} failed`)
  return JSON.parse(child.stdout) as Figures
}
