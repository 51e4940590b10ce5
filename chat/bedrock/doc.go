// Package bedrock asks chat models of Amazon Bedrock through its Converse API.
//
// Pictures travel through the SDK as markers; the bytes are put in before the request
// is signed, because AWS signs the body. Its HTTP client only lifts what comes back.
//
// Errors are media.Error values with the codes of package chat. It may import chat,
// media, wire and the AWS SDK, whose types stand in no exported signature.
package bedrock
