#include <atomic>
#include <chrono>
#include <condition_variable>
#include <iostream>
#include <string>
#include <thread>
#include <vector>
int main() {
    for (std::string line; std::getline(std::cin, line); ) {
        std::atomic<int> sum{0};
        std::vector<std::thread> threads;
        for (int i = 0; i < 8; i++) threads.emplace_back([&] {
            std::vector<std::string> kept(1000, std::string(1000, 'x'));
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
            sum += kept.size();
        });
        for (auto &thread : threads) thread.join();
        try { throw sum.load(); } catch (int found) { if (found == 8000) std::cout << "got " << line << std::endl; }
    }
}
