import { expect } from 'vitest'
import { SparkError } from '../../src/spark/index.ts'

/** Expects the refusal of a request, with its whole text. */
export function expectRefusal(request: () => unknown, message: string): void {
  expect(request).toThrow(new SparkError(message))
}
