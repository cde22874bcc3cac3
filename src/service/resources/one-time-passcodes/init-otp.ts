import type { Wire } from '../../../protocol/index.ts'
import { type HandlerRows, mapResult, type TypedHandler } from '../handler-table.ts'
import { checkNewPasscode, createPasscode, type PasscodeFlow, type PasscodeIntent } from './new-passcode.ts'

/** Sends a code to any contact, a user's or not: a stranger who signs up is as welcome as a user. */
function initOtp(flow: PasscodeFlow): TypedHandler<PasscodeIntent, Wire.InitOtpResultV2> {
  return {
    validate: checkNewPasscode,
    execute: (context, intent) => createPasscode(context, intent, { flow }),
  }
}

const plain = initOtp('PLAIN')

export const initOtpHandlers = {
  ACTIVITY_TYPE_INIT_OTP: mapResult(plain, ({ otpId }) => ({ otpId })),
  ACTIVITY_TYPE_INIT_OTP_V2: plain,
  ACTIVITY_TYPE_INIT_OTP_V3: initOtp('ENCRYPTED'),
} satisfies HandlerRows
