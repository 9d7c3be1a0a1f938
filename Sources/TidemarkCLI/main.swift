import ArgumentParser
import AsyncHTTPClient
print("hi")
