/**
 * Planning an organization that has not changed: CPU time, memory and requests by size. Definitions, lock and the API's
 * answers are real text; the network is left out. Beside it OctoDNS, which plans DNS records, where pip can install it.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeOrganization } from './plan-made.ts'

const SIZES = [100, 1_000, 5_000, 10_000]
const AIM = { size: 5_000, cpuSeconds: 1.3, megabytes: 250 }

/** Prints a line a size; the process exits with 1 when the aim is missed. */
export async function run(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'quorate-bench-'))
  try {
    console.log('resources   CPU s   MB   requests   (load · lock · read · plan CPU s)')
    for (const size of SIZES) measure(size, folder)
    octodns(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

interface Figures {
  readonly cpuSeconds: number
  readonly megabytes: number
  readonly requests: number
  readonly resources: number
  readonly steps: Readonly<Record<string, number>>
}

function measure(size: number, parent: string): void {
  const folder = join(parent, String(size))
  mkdirSync(folder)
  const { files, api } = makeOrganization(size)
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  const answers = join(parent, `${size}.json`)
  writeFileSync(answers, JSON.stringify(api))
  const child = spawnSync(process.execPath, [join(import.meta.dirname, 'plan-child.ts'), folder, answers], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (child.status !== 0) throw new Error(`planning ${size} resources failed`)
  const { cpuSeconds, megabytes, requests, resources, steps } = JSON.parse(child.stdout) as Figures
  const parts = Object.values(steps).map((seconds) => seconds.toFixed(2))
  const missed = size === AIM.size && (cpuSeconds > AIM.cpuSeconds || megabytes > AIM.megabytes)
  const verdict =
    size !== AIM.size ? '' : `   ${missed ? 'MISSED' : 'met'}: aim ${AIM.cpuSeconds} CPU s, ${AIM.megabytes} MB`
  console.log(
    `${String(resources).padStart(9)}  ${cpuSeconds.toFixed(2).padStart(6)} ${megabytes.toFixed(0).padStart(4)} ${String(requests).padStart(10)}   (${parts.join(' · ')})${verdict}`,
  )
  if (missed) process.exitCode = 1
}

/** The same question put to OctoDNS: so many records, the same on both sides. */
function octodns(folder: string): void {
  const venv = join(folder, 'venv')
  const commands = [
    ['python3', '-m', 'venv', venv],
    [join(venv, 'bin/pip'), 'install', '-q', 'octodns'],
  ]
  if (!commands.every(([command, ...args]) => spawnSync(command!, args, { stdio: 'ignore' }).status === 0)) {
    console.log('skipped: OctoDNS (python3 and pip cannot install it here)')
    return
  }
  for (const size of SIZES) {
    const here = join(folder, `dns-${size}`)
    for (const side of ['source', 'target']) {
      mkdirSync(join(here, side), { recursive: true })
      const records = Array.from(
        { length: size },
        (_, n) => `r${String(n).padStart(6, '0')}:\n  type: A\n  value: 10.${n >> 16}.${(n >> 8) & 255}.${n & 255}\n`,
      )
      writeFileSync(join(here, side, 'acme.test.yaml'), `---\n${records.join('')}`)
    }
    const provider = (side: string) =>
      `  ${side}: { class: octodns.provider.yaml.YamlProvider, directory: ${join(here, side)} }\n`
    writeFileSync(
      join(here, 'config.yaml'),
      `providers:\n${provider('source')}${provider('target')}zones:\n  acme.test.: { sources: [source], targets: [target] }\n`,
    )
    const script = `import resource,subprocess,sys
r=subprocess.run(sys.argv[1:],stdout=subprocess.DEVNULL,stderr=subprocess.DEVNULL).returncode
u=resource.getrusage(resource.RUSAGE_CHILDREN)
print(r,u.ru_utime+u.ru_stime,u.ru_maxrss/1024)`
    const sync = [join(venv, 'bin/octodns-sync'), `--config-file=${join(here, 'config.yaml')}`]
    const child = spawnSync(join(venv, 'bin/python'), ['-c', script, ...sync], { encoding: 'utf8' })
    const [status, seconds, megabytes] = child.stdout.trim().split(' ').map(Number)
    const figures = `${seconds!.toFixed(2).padStart(6)} ${megabytes!.toFixed(0).padStart(4)}`
    console.log(
      status === 0 ? `${String(size).padStart(9)}  ${figures}   OctoDNS` : `skipped: OctoDNS at ${size} failed`,
    )
  }
}
