import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { cacheFolder, findTemporal, TEMPORAL_VERSION } from '../../src/worker/index.ts'

let home = ''
let said: string[] = []
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'quorate-find-'))
  said = []
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

const announce = (message: string) => void said.push(message)
const environment = (...folders: string[]) => ({ HOME: home, PATH: folders.join(':') })
const inCache = `.cache/quorate/temporal-server-${TEMPORAL_VERSION}`
const SUM = 'h1:sgiMveg/8e51lA62pWb9VzC5WTRitKFyT6XsjonHUhE='

function program(folder: string, name: string, script: string): string {
  mkdirSync(join(home, folder), { recursive: true, mode: 0o755 })
  const path = join(home, folder, name)
  writeFileSync(path, `#!/bin/sh\n${script}\n`)
  chmodSync(path, 0o755)
  return path
}

/** A `go` that notes its arguments and settings, and finds the source with this digest. */
function goOf(sum: string): void {
  program(
    'bin',
    'go',
    [
      'env > "$HOME/environment"; echo "$@" >> "$HOME/arguments"; echo "$GOSUMDB $GOFLAGS $GOPRIVATE$GOINSECURE$GONOSUMDB" > "$HOME/settings"',
      `if [ "$1" = mod ]; then printf '{"Sum": "${sum}"}\\n'; exit 0; fi`,
      'printf "#!/bin/sh\\n" > "$GOBIN/server"',
    ].join('\n'),
  )
}

describe('temporal server binary: the order in which it is looked for', () => {
  test('the finding: the compiler of the source gets no secret of quorate', async () => {
    goOf(SUM)
    const names = ['API_KEY', 'PAYLOAD_KEY', 'SMTP_PASSWORD', 'SMS_PASSWORD', 'CAPTCHA_SECRET'].map(
      (one) => `QUORATE_${one}`,
    )
    const secrets = Object.fromEntries(names.map((name) => [name, 'a secret']))
    const path = environment(join(home, 'bin'), '/usr/bin', '/bin')
    await findTemporal({ announce, environment: { ...path, ...secrets, GOPROXY: 'https://proxy.test' } })
    const given = readFileSync(join(home, 'environment'), 'utf8')
    expect(given).toContain('GOPROXY=https://proxy.test\n')
    expect(given).not.toMatch(/a secret|QUORATE_/)
  })

  test('the PATH comes first, and nothing is said', async () => {
    const onPath = program('bin', 'temporal-server', 'true')
    program(inCache, 'temporal-server', 'true')
    expect(await findTemporal({ announce, environment: environment('/nowhere', join(home, 'bin')) })).toBe(onPath)
    expect(said).toEqual([])
  })

  test('then the cache folder, which XDG_CACHE_HOME moves', async () => {
    const cached = program(`elsewhere/quorate/temporal-server-${TEMPORAL_VERSION}`, 'temporal-server', 'true')
    const found = await findTemporal({
      announce,
      environment: { ...environment(), XDG_CACHE_HOME: join(home, 'elsewhere') },
    })
    expect(found).toBe(cached)
  })

  test('what another user could have put into the cache is not run', async () => {
    const cached = program(inCache, 'temporal-server', 'true')
    for (const path of [cached, join(home, inCache)]) {
      chmodSync(path, 0o777)
      const fault = findTemporal({ announce, environment: environment() })
      await expect(fault).rejects.toMatchObject({ facts: { cache: `${path} can be written by another user` } })
      chmodSync(path, 0o755)
    }
  })

  test('then a build from source into the cache, with checked downloads whatever the environment says', async () => {
    goOf(SUM)
    const path = `${join(home, 'bin')}:/usr/bin:/bin`
    const loose = { GOSUMDB: 'off', GOPRIVATE: '*', GOINSECURE: '*', GONOSUMDB: '*' }
    const found = await findTemporal({ announce, environment: { HOME: home, PATH: path, ...loose } })
    expect(found).toBe(join(cacheFolder({ HOME: home }), 'temporal-server'))
    expect(readFileSync(join(home, 'arguments'), 'utf8').trim().split('\n')).toEqual([
      `mod download -json go.temporal.io/server@v${TEMPORAL_VERSION}`,
      `install go.temporal.io/server/cmd/server@v${TEMPORAL_VERSION}`,
    ])
    expect(readFileSync(join(home, 'settings'), 'utf8').trim()).toBe('sum.golang.org -ldflags=-s')
    expect(said.join('\n')).toMatch(/building .* two minutes/)
  })

  test('source that is not what it was is not built', async () => {
    goOf('h1:another=')
    const fault = findTemporal({ announce, environment: { HOME: home, PATH: `${join(home, 'bin')}:/usr/bin:/bin` } })
    await expect(fault).rejects.toMatchObject({
      code: 'worker/temporal-missing',
      facts: { 'go install': `the source has the digest h1:another=, expected ${SUM}` },
    })
    expect(readFileSync(join(home, 'arguments'), 'utf8')).not.toContain('install')
    expect(existsSync(cacheFolder({ HOME: home }))).toBe(false)
  })

  test('then an error that lists what was tried', async () => {
    program('bin', 'go', 'echo "no network" >&2; exit 1')
    const fault = findTemporal({ announce, environment: { HOME: home, PATH: `${join(home, 'bin')}:/usr/bin:/bin` } })
    await expect(fault).rejects.toMatchObject({
      code: 'worker/temporal-missing',
      facts: {
        PATH: 'no `temporal-server` on the PATH',
        cache: expect.stringContaining('nothing at'),
        'go install': 'go mod download failed: no network',
      },
    })
  })

  test('a build that is no longer wanted is ended, with what it started', async () => {
    program('bin', 'go', 'sleep 300 & echo $! > "$HOME/child"; echo $$ > "$HOME/go"; wait')
    const wanted = new AbortController()
    const path = `${join(home, 'bin')}:/usr/bin:/bin`
    const fault = findTemporal({ announce, environment: { HOME: home, PATH: path }, signal: wanted.signal })
    const settled = expect(fault).rejects.toThrow('not wanted')
    while (!existsSync(join(home, 'go'))) await new Promise((resolve) => setTimeout(resolve, 10))
    wanted.abort(new Error('not wanted'))
    await settled
    const isAlive = (pid: number) => {
      try {
        // A zombie that nobody has collected yet has ended too.
        return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
      } catch {
        return false
      }
    }
    for (const name of ['go', 'child']) {
      const pid = Number(readFileSync(join(home, name), 'utf8'))
      while (isAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 10))
    }
  })

  test('the pipeline builds the same version', () => {
    const run = readFileSync(join(import.meta.dirname, '../../.ci/run'), 'utf8')
    expect(run).toContain(`go.temporal.io/server/cmd/server@v${TEMPORAL_VERSION}`)
    expect(run).toContain(`temporal-server-${TEMPORAL_VERSION}`)
  })
})
