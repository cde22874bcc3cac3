module languages

go 1.25

require github.com/tkhq/go-sdk/v2 v2.0.0
