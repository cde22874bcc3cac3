/** No container engine runs here: this only shows that the files say what they must. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parseDocument } from 'yaml'
import { settingRows } from '../../src/config/index.ts'

const root = join(import.meta.dirname, '../..')
const document = parseDocument(readFileSync(join(root, 'temporal-docker/compose.yaml'), 'utf8'), { merge: true })
const compose = document.toJS() as {
  services: Record<
    string,
    {
      image?: string
      build?: { context: string; dockerfile: string }
      ports?: string[]
      healthcheck?: { test: unknown }
      volumes?: string[]
      depends_on?: Record<string, { condition: string }>
      environment?: Record<string, string>
    }
  >
  volumes: Record<string, unknown>
}
const services = Object.entries(compose.services)

describe('compose file', () => {
  test('parses without a fault and holds the five parts', () => {
    expect(document.errors).toEqual([])
    expect(Object.keys(compose.services)).toEqual(['postgres', 'temporal', 'temporal-ui', 'service', 'worker'])
  })

  test.each(services)('%s has a health check, and an image with a version or one that is built here', (_, service) => {
    expect(service.healthcheck?.test).toBeTruthy()
    if (service.build)
      expect(existsSync(join(root, 'temporal-docker', service.build.context, service.build.dockerfile))).toBe(true)
    else expect(service.image).toMatch(/:(?!latest)[\w.-]+$/)
  })

  test('what is published is published on the loopback interface', () => {
    const ports = services.flatMap(([, { ports = [] }]) => ports)
    expect(ports.length).toBeGreaterThan(0)
    for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:/)
  })

  test('what is waited for is there and can become healthy; named volumes are declared', () => {
    for (const [, { depends_on = {}, volumes = [] }] of services) {
      for (const [name, { condition }] of Object.entries(depends_on)) {
        expect([name in compose.services, condition]).toEqual([true, 'service_healthy'])
      }
      for (const volume of volumes) expect(Object.keys(compose.volumes)).toContain(volume.split(':')[0])
    }
  })

  test('the worker is configured by settings that exist, and no secret stands in the file', () => {
    const known = new Set<string>([
      ...Object.values(settingRows).map(({ environment }) => environment),
      'TEMPORAL_ADDRESS',
    ])
    expect(Object.keys(compose.services.worker!.environment!).filter((name) => !known.has(name))).toEqual([])
    const passwords = services.flatMap(([, { environment = {} }]) =>
      Object.entries(environment).filter(([name]) => /PASSWORD|PWD|KEY$/.test(name)),
    )
    expect(passwords.length).toBeGreaterThan(0)
    for (const [, value] of passwords) expect(value).toMatch(/^\$\{\w+:\?/)
  })
})

describe('image', () => {
  const dockerfile = readFileSync(join(root, 'temporal-docker/Dockerfile'), 'utf8')

  test('runs the built bin as a user without rights', () => {
    const { bin } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { bin: { quorate: string } }
    expect(dockerfile).toContain(`"${bin.quorate}"`)
    expect(dockerfile).toMatch(/^USER node$/m)
  })
})
