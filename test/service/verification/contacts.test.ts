import { describe, expect, test } from 'vitest'
import { isSameContact, normalizeContact } from '../../../src/service/verification/index.ts'

describe('contacts', () => {
  test.each([
    ['OTP_TYPE_EMAIL', 'Ann@Example.COM', 'ann@example.com'],
    ['OTP_TYPE_SMS', '+49 (30) 123-45.67', '+49301234567'],
  ] as const)('%s: %s is %s', (type, written, contact) => {
    expect(normalizeContact(type, written)).toBe(contact)
    expect(isSameContact(type, written, contact)).toBe(true)
    expect([null, undefined, '', `x${contact}`].filter((other) => isSameContact(type, other, contact))).toEqual([])
  })

  test.each([
    ['OTP_TYPE_EMAIL', 'ann@localhost', 'invalid email address'],
    ['OTP_TYPE_EMAIL', 'ann@example.com\r\nBcc: bob@example.com', 'invalid email address'],
    ['OTP_TYPE_EMAIL', 'ann@example.com, bob@example.com', 'invalid email address'],
    ['OTP_TYPE_EMAIL', '', 'invalid email address'],
    ['OTP_TYPE_SMS', '0301234567', 'E.164'],
    ['OTP_TYPE_SMS', '+49301234567;+49301234568', 'E.164'],
    ['OTP_TYPE_SMS', `+${'1'.repeat(16)}`, 'E.164'],
    ['OTP_TYPE_SMS', 'ann@example.com', 'E.164'],
  ] as const)('%s: %j is none', (type, written, why) => {
    expect(() => normalizeContact(type, written)).toThrow(why)
  })
})
